/** FastMCP with fastmcp-tasks on Redis, as processes: pinned packages in the user's cache, Redis on PATH or from Debian. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { eventually, freePort } from '../../test/stack/cli-process.js';
import { INSTALL_LIMIT_MS, installOnce } from '../../test/support/install-once.js';
import { WireClient } from '../../test/support/mcp.js';
import { installVenv } from '../../test/support/python.js';
import { taskCalls, type Side } from '../sides.js';

const run = promisify(execFile);
const folder = resolve('bench/beside-fastmcp');

/** When Redis writes its log to disk (`appendfsync`). */
export type Fsync = 'everysec' | 'always';

interface RedisBinary {
  path: string;
  environment: NodeJS.ProcessEnv;
}

/**
 * Finds `redis-server` on PATH; otherwise downloads Debian's packages and unpacks them into the user's cache, which needs
 * apt-get with package lists (`apt-get update`), but not root.
 */
async function findRedis(): Promise<RedisBinary> {
  const onPath = (process.env['PATH'] ?? '')
    .split(':')
    .map((path) => join(path, 'redis-server'))
    .find((path) => existsSync(path));
  if (onPath) return { path: onPath, environment: {} };
  const list = join(folder, 'debian-packages.txt');
  const unpacked = await installOnce('redis', [list], async (target) => {
    mkdirSync(target, { recursive: true });
    const packages = readFileSync(list, 'utf8').trim().split('\n');
    const limits = { cwd: target, timeout: INSTALL_LIMIT_MS };
    await run('apt-get', ['download', ...packages], limits);
    for (const file of readdirSync(target).filter((name) => name.endsWith('.deb')))
      await run('dpkg', ['-x', file, target], limits);
  });
  const libraries = readdirSync(join(unpacked, 'usr/lib')).map((name) => join(unpacked, 'usr/lib', name));
  return {
    path: join(unpacked, 'usr/bin/redis-server'),
    environment: { LD_LIBRARY_PATH: libraries.join(':') },
  };
}

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
  const redis = await findRedis();
  const python = join(await installVenv('beside-fastmcp', join(folder, 'requirements.txt')), 'python');
  const environment = { ...process.env, ...redis.environment };
  const data = mkdtempSync(join(tmpdir(), 'longhaul-bench-redis-'));
  const redisPort = String(await freePort());
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
    const durable = ['--appendonly', 'yes', '--appendfsync', fsync, '--save', ''];
    const local = ['--bind', '127.0.0.1', '--port', redisPort, '--dir', data];
    const store = start(redis.path, [...local, ...durable], environment);
    const server = start(python, [join(folder, 'server.py'), port, `redis://127.0.0.1:${redisPort}/0`], {
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
