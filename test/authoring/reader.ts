/** A reader of docs/writing-a-tool.md: the page's files, the packed package, real processes. */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, freePort } from '../stack/cli-process.js';
import { WireClient } from '../support/mcp.js';
import { answers } from '../support/service.js';
import { PackedProject, run } from './packed.js';

export class Reader {
  readonly root = mkdtempSync(join(tmpdir(), 'longhaul-reader-'));
  #packed!: PackedProject;
  readonly #processes: ChildProcess[] = [];
  #environment: NodeJS.ProcessEnv = {};
  #port = 0;

  /** Writes the page's files into a project, and starts a server and a worker there. */
  static async start(): Promise<Reader> {
    const reader = new Reader();
    await reader.#begin();
    return reader;
  }

  get client(): WireClient {
    return new WireClient(`http://127.0.0.1:${this.#port}/mcp`);
  }

  async #begin(): Promise<void> {
    this.#packed = await PackedProject.create(this.root);
    this.#port = await freePort();
    this.#environment = {
      ...process.env,
      NODE_OPTIONS: '',
      LONGHAUL_PORT: String(this.#port),
      LONGHAUL_TASK_QUEUE: `test-${randomUUID()}`,
    };
    this.spawn('server');
    this.spawn('worker');
    await eventually('the server is ready', () => {
      if (this.#processes.some(({ exitCode }) => exitCode !== null)) throw new Error('a part ended');
      return answers(`http://127.0.0.1:${this.#port}/readyz`);
    });
  }

  get packed(): PackedProject {
    return this.#packed;
  }

  spawn(command: 'server' | 'worker'): ChildProcess {
    const child = spawn(process.execPath, [this.#packed.main, command], {
      cwd: this.#packed.folder,
      env: this.#environment,
      stdio: 'ignore',
    });
    this.#processes.push(child);
    return child;
  }

  get worker(): ChildProcess {
    return this.#processes.at(-1)!;
  }

  /** Runs a command of the installed package in the project's folder, as the page does. */
  async longhaul(...args: string[]): Promise<string> {
    const { stdout } = await run(process.execPath, [this.#packed.main, ...args], {
      cwd: this.#packed.folder,
      env: this.#environment,
    });
    return stdout.trim();
  }

  async stop(): Promise<void> {
    for (const child of this.#processes) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGTERM');
      await once(child, 'close');
    }
    rmSync(this.root, { recursive: true, force: true });
  }
}
