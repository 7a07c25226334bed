/** The environment's server and worker: the processes that `longhaul up` runs, on a separate task queue. */
import { setTimeout as sleep } from 'node:timers/promises';
import { settingsToEnvironment, SUPERVISED_VARIABLE, type Settings } from '../platform/settings/index.js';
import type { RunningProcess } from '../stack/keep-running.js';
import { logPath, logSize, logTail } from '../stack/log-files.js';
import { startPart, type Part } from '../stack/node-child.js';
import { serverUrl, waitUntilReady } from '../stack/readiness.js';
import { TestEnvironmentError } from './errors.js';

/** Start limit in milliseconds. A worker bundles the project's workflows first. */
const START_LIMIT_MS = 120_000;
/** Stop limit in milliseconds, before the process is killed. */
const STOP_LIMIT_MS = 10_000;
const POLL_INTERVAL_MS = 25;

export class PartProcess {
  #running: RunningProcess | undefined;
  #exited: string | undefined;
  readonly #environment: NodeJS.ProcessEnv;

  constructor(
    private readonly part: Part,
    private readonly settings: Settings,
    environment: NodeJS.ProcessEnv,
  ) {
    // A supervised process ends with this one, even after SIGKILL. It must not inherit the tests' loaders.
    this.#environment = {
      ...environment,
      ...settingsToEnvironment(settings),
      NODE_OPTIONS: '',
      [SUPERVISED_VARIABLE]: '1',
    };
  }

  get isRunning(): boolean {
    return this.#running !== undefined && this.#exited === undefined;
  }

  /** Starts the process and waits until it is ready. @throws TestEnvironmentError with the end of its log */
  async start(): Promise<void> {
    const { part, settings } = this;
    if (this.isRunning) throw new TestEnvironmentError(`the ${part} is already running`);
    const logStart = logSize(settings.home, part);
    this.#exited = undefined;
    const running = startPart(part, settings.home, this.#environment, () => undefined);
    this.#running = running;
    void running.exited.then(({ how }) => {
      if (this.#running === running) this.#exited = how;
    });
    const deadline = performance.now() + START_LIMIT_MS;
    while (!running.wasReady?.()) {
      const isLate = performance.now() > deadline;
      if (this.#exited !== undefined || isLate) {
        await this.stop();
        const how = isLate ? `isn't ready after ${START_LIMIT_MS / 1000} s` : `ended with ${this.#exited}`;
        const lines = logTail(settings.home, part, logStart).map((line) => `\n  ${messageIn(line)}`);
        throw new TestEnvironmentError(`the ${part} ${how}:${lines.join('')}`);
      }
      await sleep(POLL_INTERVAL_MS);
    }
  }

  /** Sends SIGTERM. Running activities get 5 s to end. */
  stop(): Promise<void> {
    return this.#end(STOP_LIMIT_MS);
  }

  kill(): Promise<void> {
    return this.#end(0);
  }

  /** Path of the log, one JSON entry per line. */
  get logPath(): string {
    return logPath(this.settings.home, this.part);
  }

  async #end(graceMs: number): Promise<void> {
    await this.#running?.stop(graceMs);
  }
}

/** Waits until the server has found Temporal and the worker. @throws TestEnvironmentError */
export async function untilReady(settings: Settings): Promise<void> {
  let lacks: string[] = [];
  const late = AbortSignal.timeout(START_LIMIT_MS);
  if (await waitUntilReady(serverUrl(settings), late, (missing) => (lacks = missing))) return;
  throw new TestEnvironmentError(
    `the environment isn't ready after ${START_LIMIT_MS / 1000} s; missing: ${lacks.join(', ')}`,
  );
}

function messageIn(line: string): string {
  try {
    const { msg, err } = JSON.parse(line) as { msg?: string; err?: { message?: string } };
    return [msg, err?.message].filter(Boolean).join(': ') || line;
  } catch {
    return line;
  }
}
