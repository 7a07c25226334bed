/** The systems as a process of their own, on free ports, with a database in memory or a folder of its own. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Fault } from '../service/faults.js';

type Row = Record<string, string | number | null>;
type Table = 'suppliers' | 'jobs' | 'contracts' | 'people' | 'accounts' | 'requests';

export class Service {
  private constructor(
    readonly systems: string,
    readonly control: string,
    readonly stop: () => Promise<void>,
  ) {}

  static async start(): Promise<Service> {
    const folder = await mkdtemp(join(tmpdir(), 'systems-'));
    const env = {
      ...process.env,
      SYSTEMS_PORT: '0',
      CONTROL_PORT: '0',
      SYSTEMS_DATABASE: join(folder, 'systems.db'),
      CHECK_MS: '1000',
    };
    const child = spawn(process.execPath, ['--import', 'jiti/register', 'service/main.ts'], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = new Promise((end) => child.once('exit', end));
    const stop = async () => {
      child.kill();
      await ended;
      await rm(folder, { recursive: true, force: true });
    };
    for await (const line of createInterface({ input: child.stdout })) {
      const [systems, control] = line.match(/http:\/\/[\d.:]+/g) ?? [];
      if (systems && control) return new Service(systems, control, stop);
    }
    throw new Error('the service ended before it was ready');
  }

  async fault(system: string, fault: Fault): Promise<void> {
    await fetch(`${this.control}/faults/${system}`, { method: 'PUT', body: JSON.stringify(fault) });
  }

  /** Ends the system's faults; requests that it holds continue. */
  async repair(system: string): Promise<void> {
    await fetch(`${this.control}/faults/${system}`, { method: 'DELETE' });
  }

  /** How long checks take, also those that run, in milliseconds. */
  async checksTake(ms: number): Promise<void> {
    await fetch(`${this.control}/checks`, { method: 'PUT', body: JSON.stringify(ms) });
  }

  /** Starts a background check, as somebody outside of Longhaul does. @returns its ARN */
  async startCheck(vendor: string): Promise<string> {
    const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() };
    const body = JSON.stringify({ vendor });
    const response = await fetch(`${this.systems}/checks/jobs`, { method: 'POST', headers, body });
    return ((await response.json()) as { id: string }).id;
  }

  /** Empties all tables. */
  async clear(): Promise<void> {
    await fetch(`${this.control}/tables`, { method: 'DELETE' });
  }

  async held(system: string): Promise<number> {
    const { held } = (await (await fetch(`${this.control}/faults/${system}`)).json()) as { held: number };
    return held;
  }

  async tables(): Promise<Record<Table, Row[]>> {
    return (await (await fetch(`${this.control}/tables`)).json()) as Record<Table, Row[]>;
  }

  /** Records that the company's systems have, and checks that still run. */
  async leftOver(): Promise<Row[]> {
    const { suppliers, contracts, people, accounts, jobs } = await this.tables();
    return [suppliers, contracts, people, accounts, jobs.filter(({ state }) => state === 'running')].flat();
  }
}
