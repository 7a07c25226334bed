/** FastMCP with fastmcp-tasks on Redis, as processes. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { eventually, freePort } from '../../test/stack/cli-process.js';
import { WireClient } from '../../test/support/mcp.js';
import { taskCalls, type Side } from '../sides.js';
import { installPrograms, redisArguments, type Fsync } from './programs.js';

const run = promisify(execFile);
const SERVER = resolve('bench/beside-fastmcp/server.py');

/** FastMCP's server on a Redis of its own. */
export interface Peer {
  side: Side;
  /** Versions, as the programs print them. */
  versions: Record<string, string>;
  stop(): Promise<void>;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((settle) => child.once('close', settle));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
  await ended;
  clearTimeout(timer);
}

/** Starts Redis in a temporary folder, and FastMCP's server with its worker in process. */
export async function startPeer(fsync: Fsync): Promise<Peer> {
  const { python, redis } = await installPrograms();
  const environment = { ...process.env, ...redis.environment };
  const data = mkdtempSync(join(tmpdir(), 'longhaul-bench-redis-'));
  const redisPort = await freePort();
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}/mcp`;
  const started: ChildProcess[] = [];
  const start = (command: string, args: string[], env: NodeJS.ProcessEnv) => {
    const child = spawn(command, args, { cwd: data, env, stdio: ['ignore', 'ignore', 'inherit'] });
    started.push(child);
    return child;
  };
  const stop = async () => {
    for (const child of started.toReversed()) await end(child);
    rmSync(data, { recursive: true, force: true });
  };
  try {
    const store = start(redis.path, redisArguments(redisPort, data, fsync), environment);
    const server = start(python, [SERVER, port, `redis://127.0.0.1:${redisPort}/0`], {
      ...process.env,
      FASTMCP_CHECK_FOR_UPDATES: 'off',
    });
    const client = new WireClient(url);
    await eventually('FastMCP is ready', () => {
      if (server.exitCode !== null || store.exitCode !== null) throw new Error('Redis or FastMCP ended');
      return client.request('server/discover').then(
        ({ result }) => result !== undefined,
        () => false,
      );
    });
    const versionOf = async (command: string, args: string[]) =>
      (await run(command, args, { env: environment })).stdout.trim();
    const name = `FastMCP, fsync ${fsync === 'always' ? 'always' : 'each second'}`;
    return {
      side: { name, pids: { fastmcp: server.pid!, redis: store.pid! }, ...taskCalls(client) },
      versions: {
        redis: await versionOf(redis.path, ['--version']),
        python: await versionOf(python, ['--version']),
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
