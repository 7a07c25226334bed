/** Several hosts on one machine: a home each, with one storage, one Temporal and one server. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hostId } from '../../worker/steps/host.js';
import { readLauncher } from '../../worker/steps/launcher/record.js';
import { killLeftovers } from '../../worker/steps/leftovers.js';
import { runningSteps, runOf } from '../../worker/steps/running.js';
import { lastSeen } from '../../platform/temporal/host-presence.js';
import { linesOf, writePipelines } from '../pipelines/support.js';
import { eventually } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { TestStack, type Part } from '../support/test-stack.js';

export interface TestHost {
  home: string;
  id: string;
  worker: Part;
}

/** The secret of the server and of all hosts. */
export const SECRET = Buffer.alloc(32, 7);

/** Absence after which a host counts as lost: the least that can be set. */
const ABSENCE_MINUTES = '2';

export class Hosts {
  private constructor(
    readonly root: string,
    readonly parts: TestStack,
  ) {}

  /** A server without a worker. */
  static async start(
    pipelines: Record<string, string>,
    environment: Record<string, string> = {},
  ): Promise<Hosts> {
    const root = mkdtempSync(join(tmpdir(), 'longhaul-hosts-'));
    for (const folder of ['pipelines', 'storage', 'ledgers']) mkdirSync(join(root, folder));
    writePipelines(join(root, 'pipelines'), pipelines);
    // Its own stack: each host is a worker on a home of its own.
    const parts = await TestStack.serverAlone({
      LONGHAUL_HOME: newHome(root, 'server'),
      LONGHAUL_PIPELINE_FOLDERS: join(root, 'pipelines'),
      LONGHAUL_SECRET: SECRET.toString('base64'),
      LONGHAUL_MAX_STEPS: '8',
      LONGHAUL_HOST_ABSENCE_MINUTES: ABSENCE_MINUTES,
      LONGHAUL_STEP_ENVIRONMENT: 'TEST_HOST',
      ...environment,
    });
    return new Hosts(root, parts);
  }

  /** @param address of Temporal, for a host that reaches it by a way of its own */
  async add(name: string, address?: string): Promise<TestHost> {
    const home = newHome(this.root, name);
    const host = { home, id: hostId(home), worker: this.#worker(home, name, address) };
    await this.#ready(host);
    return host;
  }

  /** Kills all processes of a host: its worker and its steps, with their launchers. */
  async kill({ home, worker }: TestHost): Promise<void> {
    await worker.end('SIGKILL');
    for (const running of await runningSteps(home)) {
      const run = await runOf(home, running);
      if (!run) continue;
      const pids = await readLauncher(run.folder);
      const session = pids?.launcher;
      await killLeftovers(
        { folder: run.folder, stepId: running.stepId, pids },
        { session, isRelayToo: true },
      );
    }
  }

  /** Starts the worker of a host again. */
  async again(host: TestHost, name: string): Promise<void> {
    host.worker = this.#worker(host.home, name);
    await this.#ready(host);
  }

  #worker(home: string, name: string, address?: string): Part {
    return this.parts.worker({
      LONGHAUL_HOME: home,
      TEST_HOST: name,
      ...(address ? { TEMPORAL_ADDRESS: address } : {}),
    });
  }

  async #ready(host: TestHost): Promise<void> {
    const since = new Date(Date.now() - 1_000);
    await eventually(
      `host ${host.id} polls`,
      () => {
        if (host.worker.process.exitCode !== null) throw new Error(host.worker.output());
        return this.isSeenSince(host, since);
      },
      PROCESSES_MS,
    );
    await this.parts.ready();
  }

  async isSeenSince({ id }: TestHost, since: Date): Promise<boolean> {
    const seen = await lastSeen(await this.parts.temporal(), this.parts.taskQueue, id);
    return seen !== undefined && seen > since;
  }

  startOn(tool: string, ledger: string): Promise<string> {
    return this.parts.client.start(tool, { ledger: this.ledger(ledger) });
  }

  /** Lets the steps end that wait. */
  letGo(ledger: string): void {
    writeFileSync(`${this.ledger(ledger)}.go`, '');
  }

  ledger(name: string): string {
    return join(this.root, 'ledgers', name);
  }

  lines(name: string): string[] {
    return linesOf(this.ledger(name));
  }

  async stop(): Promise<void> {
    await this.parts.stop();
    rmSync(this.root, { recursive: true, force: true });
  }
}

function newHome(root: string, name: string): string {
  const home = join(root, name);
  mkdirSync(home);
  symlinkSync(join(root, 'storage'), join(home, 'storage'));
  return home;
}
