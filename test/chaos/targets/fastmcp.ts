/**
 * FastMCP with fastmcp-tasks on Redis: server, one more worker and Redis, as processes that are started again when they end, as by a
 * service manager. The server runs tasks too, which fastmcp-tasks can't switch off: its documentation adds workers, and knows no
 * server without one. Redis writes each change to disk before it answers, as Longhaul's database does.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { installPrograms, redisArguments } from '../../../bench/beside-fastmcp/programs.js';
import { logPath, openLog } from '../../../stack/log-files.js';
import { eventually, freePort, readText } from '../../stack/cli-process.js';
import { PROCESSES_MS } from '../../support/limits.js';
import { tasksClient } from '../../support/protocols/tasks.js';
import type { ProtocolClient, Reading } from '../../support/protocols/client.js';
import type { Host, Running, Target, Work } from '../target.js';

const SERVER = resolve('test/chaos/targets/fastmcp/server.py');
const BATCHES = { batches: 3, secondsEach: 2 };
/** Time between a process's end and its next start, in milliseconds. */
const RESTART_MS = 500;
const STOP_LIMIT_MS = 5_000;
const SETTINGS = {
  FASTMCP_CHECK_FOR_UPDATES: 'off',
  // A task of a worker that is gone runs again after this time: its default is 300 s, Longhaul's activities here have 10 s.
  // Workers renew what they run at a quarter of it, so a long task is not taken for a lost one.
  FASTMCP_DOCKET_REDELIVERY_TIMEOUT: 'PT10S',
  // Default: 10 tasks at once; Temporal's worker runs 100 activities.
  FASTMCP_DOCKET_CONCURRENCY: '100',
};

const batches = (more: object) => ({
  tool: 'batches',
  args: ({ name, ledger }: Work) => ({ name, ledger, ...BATCHES, ...more }),
  parts: BATCHES.batches,
});

/** A process that is started again whenever it ends, until it is stopped. */
class Supervised {
  #child: ChildProcess | undefined;
  #isStopping = false;
  #ended: Promise<unknown> = Promise.resolve();

  constructor(private readonly start: () => ChildProcess) {
    this.#run();
  }

  /** As a property: the harness calls it without its object. */
  readonly pid = (): number | undefined => {
    const { pid, exitCode, signalCode } = this.#child ?? {};
    return exitCode === null && signalCode === null ? pid : undefined;
  };

  #run(): void {
    if (this.#isStopping) return;
    const child = this.start();
    this.#child = child;
    this.#ended = new Promise((settle) => child.once('close', settle));
    child.once('close', () => setTimeout(() => this.#run(), RESTART_MS).unref());
    child.once('error', () => undefined);
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#child?.kill('SIGTERM');
    const timer = setTimeout(() => this.#child?.kill('SIGKILL'), STOP_LIMIT_MS);
    await this.#ended;
    clearTimeout(timer);
  }
}

async function start(host: Host): Promise<Running> {
  const { python, redis } = await installPrograms();
  const data = join(host.folder, 'redis');
  mkdirSync(data, { recursive: true });
  const [redisPort, port] = [await freePort(), await freePort()];
  const redisLink = await host.link('redis', redisPort);
  const url = `http://127.0.0.1:${await host.link('server', port)}/mcp`;
  const environment = {
    ...process.env,
    ...SETTINGS,
    ...host.clock,
    // Names the run, for the harness to find what is left of it.
    PWD: host.folder,
    FASTMCP_DOCKET_URL: `redis://127.0.0.1:${redisLink}/0`,
  };
  const supervise = (name: string, command: string, args: string[], env: NodeJS.ProcessEnv) =>
    new Supervised(() => {
      const log = openLog(host.folder, name);
      return spawn(command, args, { cwd: host.folder, env, stdio: ['ignore', log, log] });
    });
  // Its title would replace the command line and the environment that name the run.
  const redisOptions = [...redisArguments(redisPort, data, 'always'), '--set-proc-title', 'no'];
  const store = supervise('redis', redis.path, redisOptions, { ...process.env, ...redis.environment });
  const worker = supervise(
    'worker',
    python,
    ['-m', 'fastmcp_tasks.worker_cli', 'worker', SERVER],
    environment,
  );
  const server = supervise('server', python, [SERVER, String(port)], environment);
  const stop = async () => {
    for (const each of [server, worker, store]) await each.stop();
  };
  const client = fastmcpClient(url);
  try {
    await eventually(
      `FastMCP and its worker have started; their logs are in ${host.folder}`,
      async () =>
        readText(logPath(host.folder, 'worker')).includes('Starting worker') &&
        (await client.start('probe', {}, '').catch(() => undefined)) !== undefined,
      PROCESSES_MS,
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, processes: { server, worker, redis: store }, protocols: [client], stop };
}

/** Progress is in the status message alone: `unit 3 of batch 2`. */
function fastmcpClient(url: string): ProtocolClient {
  const client = tasksClient(url);
  return {
    ...client,
    async read(token, signal) {
      const reading = await client.read(token, signal);
      return reading && withProgress(reading);
    },
  };
}

function withProgress(reading: Reading): Reading {
  const { lastUpdatedAt: _time, ...raw } = reading.raw as Record<string, unknown>;
  const message = raw['statusMessage'] as string | undefined;
  const [, unit, batch] = /^unit (\d+) of batch (\d+)$/.exec(message ?? '') ?? [];
  const { updatedAt: _time2, ...rest } = reading;
  return {
    ...rest,
    // It is the time of the answer: nothing else changes in the record of a closed task.
    raw,
    ...(batch ? { progress: { progress: Number(unit) + (Number(batch) - 1) * 10, message: message! } } : {}),
  };
}

export default {
  name: 'FastMCP',
  processes: {
    worker: { weight: 4, service: 'work' },
    server: { weight: 2, service: 'reads' },
    redis: { weight: 1, service: 'reads' },
  },
  links: ['server', 'redis'],
  tools: {
    work: batches({}),
    asks: batches({ ends: 'asks' }),
    fails: batches({ ends: 'failed' }),
    long: batches({ batches: 30 }),
    steps: { tool: 'steps', args: ({ name, ledger }) => ({ name, ledger }), parts: 3, isOnce: true },
    probe: { tool: 'probe', args: () => ({}), parts: 0 },
  },
  hasIdempotencyKeys: false,
  start,
} satisfies Target;
