/** Programs of FastMCP with fastmcp-tasks on Redis: pinned packages in the user's cache, Redis on PATH or from Debian. */
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { unpackDebianPackages } from '../../test/support/debian-packages.js';
import { installVenv } from '../../test/support/python.js';

const folder = resolve('bench/beside-fastmcp');

/** When Redis writes its log to disk (`appendfsync`). */
export type Fsync = 'everysec' | 'always';

export interface Programs {
  /** Python with fastmcp-tasks. */
  python: string;
  redis: {
    path: string;
    environment: NodeJS.ProcessEnv;
  };
}

/** Finds or installs them: into the user's cache, without root. */
export async function installPrograms(): Promise<Programs> {
  const redis = await findRedis();
  const python = join(await installVenv('beside-fastmcp', join(folder, 'requirements.txt')), 'python');
  return { python, redis };
}

async function findRedis(): Promise<Programs['redis']> {
  const onPath = (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((path) => join(path, 'redis-server'))
    .find((path) => existsSync(path));
  if (onPath) return { path: onPath, environment: {} };
  const unpacked = await unpackDebianPackages('redis', join(folder, 'debian-packages.txt'));
  const libraries = readdirSync(join(unpacked, 'usr/lib')).map((name) => join(unpacked, 'usr/lib', name));
  return {
    path: join(unpacked, 'usr/bin/redis-server'),
    environment: { LD_LIBRARY_PATH: libraries.join(':') },
  };
}

/** Arguments of a Redis on loopback that keeps its data in a log, with no snapshots beside it. */
export function redisArguments(port: number, data: string, fsync: Fsync): string[] {
  return [
    ...['--bind', '127.0.0.1', '--port', String(port), '--dir', data],
    ...['--appendonly', 'yes', '--appendfsync', fsync, '--save', ''],
  ];
}
