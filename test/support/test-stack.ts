/** Servers and workers as real processes, on the run's Temporal, each test on a task queue of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join, resolve } from 'node:path';
import { Client } from '@temporalio/client';
import { logTail } from '../../stack/log-files.js';
import { eventually, freePort } from '../stack/cli-process.js';
import { endStepsOf } from './end-steps.js';
import { JobsClient } from './jobs.js';
import { PROCESSES_MS } from './limits.js';
import { WireClient } from './mcp.js';
import { keepOutput } from './process-log.js';
import { connectToTemporal, inheritedEnvironment } from './run-temporal.js';

const MAIN = resolve('dist/bin/longhaul.js');
export const FIXTURES = resolve('test/fixtures/project');
/** Environment of a stack whose tools count calls and events, or are odd for a worker; without the shipped tools. */
export const COUNTED_PROJECT = {
  LONGHAUL_PROJECT: resolve('test/fixtures/counted-project'),
  LONGHAUL_PIPELINE_FOLDERS: resolve('test/fixtures/counted-project/pipelines'),
  LONGHAUL_SHIPPED_TOOLS: 'false',
};
/** Secret `SHARED` of pipelines on the run's shared worker. */
export const SHARED_SECRET = process.env['LONGHAUL_SECRET_SHARED']!;
/** Data that tools of the run's shared stack may read. */
const SHARED_SETTINGS = { LONGHAUL_DATA_FOLDERS: resolve('node_modules/vega-datasets/data') };
/** Processes of the run's shared stack. */
const SHARED_PARTS = ['server', 'worker'];

/** One process of Longhaul. */
export interface Part {
  process: ChildProcess;
  output(): string;
  /** Sends a signal, unless it has ended by itself, and waits for the end. */
  end(signal?: NodeJS.Signals): Promise<void>;
}

/** Where test/global-setup.js has started the shared stack. */
function sharedStack(): { port: string; taskQueue: string } {
  const { LONGHAUL_TEST_SHARED_PORT: port, LONGHAUL_TEST_SHARED_TASK_QUEUE: taskQueue } = process.env;
  if (!port || !taskQueue) throw new Error('test/global-setup.js has started no shared stack');
  return { port, taskQueue };
}

/** Settings with which a server starts operations on the queue of the run's worker. */
export function onSharedQueue(environment: Record<string, string>): Record<string, string> {
  return { LONGHAUL_TASK_QUEUE: sharedStack().taskQueue, ...environment };
}

export class TestStack {
  /** Processes that no test has ended. */
  parts: Part[] = [];
  readonly client: WireClient;
  readonly jobs: JobsClient;
  readonly #temporal = new Map<string, Client>();
  /** Task queues of its workers, by home. */
  readonly #queues = new Map<string, Set<string>>();

  private constructor(
    readonly port: number,
    readonly environment: Record<string, string>,
    readonly taskQueue = `test-${randomUUID()}`,
  ) {
    this.client = new WireClient(`${this.base}/mcp`);
    this.jobs = new JobsClient(this.base);
  }

  /**
   * A server and a worker, ready to be called.
   *
   * @param port of the server. Default: a free one
   */
  static async start(environment: Record<string, string> = {}, port?: number): Promise<TestStack> {
    const parts = await TestStack.serverAlone(environment, port);
    parts.worker();
    try {
      await parts.ready();
    } catch (error) {
      await parts.stop('SIGKILL');
      throw error;
    }
    return parts;
  }

  /** A server that is ready once there is a worker. */
  static async serverAlone(environment: Record<string, string>, port?: number): Promise<TestStack> {
    const parts = new TestStack(port ?? (await freePort()), environment);
    parts.server();
    return parts;
  }

  /**
   * The run's own server and worker (test/global-setup.js), once they are ready, for tests that change no settings and end no
   * processes. `stop()` closes this file's connections to Temporal and leaves the processes running.
   */
  static async shared(): Promise<TestStack> {
    const { port, taskQueue } = sharedStack();
    const stack = new TestStack(Number(port), SHARED_SETTINGS, taskQueue);
    const logs = () =>
      SHARED_PARTS.map((part) => logTail(process.env['LONGHAUL_HOME']!, `shared-${part}`, 0).join('\n'));
    await eventually(
      () => `the shared stack is ready; ${logs().join('\n')}`,
      () => stack.isReady(),
      PROCESSES_MS,
    );
    return stack;
  }

  /** A server of its own on the run's shared worker, for tests whose tools need no worker of their own. */
  static async serverOnSharedWorker(
    environment: Record<string, string> = {},
    port?: number,
  ): Promise<TestStack> {
    const settings = { ...SHARED_SETTINGS, ...environment };
    const stack = new TestStack(port ?? (await freePort()), settings, sharedStack().taskQueue);
    stack.server();
    try {
      await stack.ready();
    } catch (error) {
      await stack.stop('SIGKILL');
      throw error;
    }
    return stack;
  }

  get base(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** @param main the command line's program. Default: the built one */
  run(command: string, environment: Record<string, string> = {}, main = MAIN): Part {
    const env: NodeJS.ProcessEnv = {
      ...inheritedEnvironment({ ...this.environment, ...environment }),
      NODE_OPTIONS: '',
      LONGHAUL_PROJECT: FIXTURES,
      LONGHAUL_PIPELINE_FOLDERS: join(FIXTURES, 'pipelines'),
      LONGHAUL_TASK_QUEUE: this.taskQueue,
      LONGHAUL_PORT: String(this.port),
      ...this.environment,
      ...environment,
    };
    if (command === 'worker') {
      const home = env['LONGHAUL_HOME']!;
      this.#queues.set(home, (this.#queues.get(home) ?? new Set()).add(env['LONGHAUL_TASK_QUEUE']!));
    }
    const child = spawn(process.execPath, [main, command], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    keepOutput(child, command);
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const closed = new Promise<void>((settle) => child.once('close', () => settle()));
    const part: Part = {
      process: child,
      output: () => output,
      end: async (signal = 'SIGTERM') => {
        if (child.exitCode === null) child.kill(signal);
        await closed;
        this.parts = this.parts.filter((other) => other !== part);
      },
    };
    this.parts.push(part);
    return part;
  }

  worker(environment?: Record<string, string>, main?: string): Part {
    return this.run('worker', environment, main);
  }

  server(environment?: Record<string, string>): Part {
    return this.run('server', environment);
  }

  async ready(): Promise<void> {
    const outputs = () => this.parts.map((part) => part.output().slice(-2_000)).join('\n');
    await eventually(
      () => `the server is ready; ${outputs()}`,
      async () => {
        const dead = this.parts.find((part) => part.process.exitCode !== null);
        if (dead) throw new Error(`a part ended: ${dead.output()}`);
        return this.isReady();
      },
    );
  }

  /** Waits until the server answers, whether it is ready or not. */
  async listening(): Promise<void> {
    await eventually('the server listens', () =>
      fetch(`${this.base}/healthz`).then(
        () => true,
        () => false,
      ),
    );
  }

  async isReady(): Promise<boolean> {
    return fetch(`${this.base}/readyz`).then(
      (response) => response.ok,
      () => false,
    );
  }

  /** Client of Temporal itself, to check what the server has started. */
  async temporal(namespace = 'default'): Promise<Client> {
    const known = this.#temporal.get(namespace);
    if (known) return known;
    const connection = await connectToTemporal();
    const client = new Client({ connection, namespace });
    this.#temporal.set(namespace, client);
    return client;
  }

  /** Ends its processes, and the steps that its workers have left. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    await Promise.all(this.parts.map((part) => part.end(signal)));
    // Other tests run steps in the same home.
    for (const [home, queues] of this.#queues)
      for (const taskQueue of queues) await endStepsOf(home, taskQueue);
    await Promise.all([...this.#temporal.values()].map(({ connection }) => connection.close()));
  }
}
