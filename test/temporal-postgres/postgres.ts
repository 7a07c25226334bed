/** A PostgreSQL of its own in a folder, on a free port of loopback. */
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { freePort } from '../stack/cli-process.js';
import { Service } from '../support/service.js';

const PROGRAMS = ['initdb', 'postgres', 'pg_isready'];
/** Debian keeps each version's programs in a folder that isn't on PATH. */
const DEBIAN = '/usr/lib/postgresql';
const USER = 'temporal';

export interface Postgres {
  address: string;
  port: number;
  user: string;
  password: string;
  service: Service;
}

/**
 * Starts PostgreSQL. As root, it runs as the user `postgres`, since it refuses to run as root.
 *
 * @param folder holds data and logs; may be removed after its service was stopped
 * @throws Error when it isn't installed
 */
export async function startPostgres(folder: string): Promise<Postgres> {
  const programs = findPrograms();
  const data = join(folder, 'postgres');
  const passwordFile = join(data, 'password');
  const password = randomBytes(16).toString('hex');
  const asUser =
    process.getuid?.() === 0
      ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--init-groups', '--']
      : [];
  chmodSync(folder, 0o755);
  mkdirSync(data);
  writeFileSync(passwordFile, password);
  if (asUser.length > 0) execFileSync('chown', ['-R', 'postgres:', data]);
  chmodSync(data, 0o700);
  const [command, ...args] = [
    ...[
      ...asUser,
      join(programs, 'initdb'),
      '-D',
      join(data, 'cluster'),
      '-U',
      USER,
      '--pwfile',
      passwordFile,
    ],
    ...['--auth=scram-sha-256', '--encoding=UTF8', '--locale=C'],
  ];
  execFileSync(command!, args, { cwd: data, stdio: 'pipe' });
  const port = await freePort();
  const check = ['-q', '-h', '127.0.0.1', '-p', String(port), '-U', USER];
  const service = await Service.start({
    name: 'postgres',
    folder,
    command: [
      ...[...asUser, join(programs, 'postgres'), '-D', join(data, 'cluster'), '-h', '127.0.0.1'],
      // No Unix socket; a crash of the machine may lose data.
      ...['-p', String(port), '-k', '', '-c', 'fsync=off', '-c', 'max_connections=300'],
    ],
    isReady: () => spawnSync(join(programs, 'pg_isready'), check).status === 0,
  });
  return { address: `127.0.0.1:${port}`, port, user: USER, password, service };
}

/** Folder of the programs, of the newest version that is there. */
export function findPrograms(): string {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...(process.env['PATH'] ?? '').split(delimiter).filter(Boolean),
    ...versions.map((version) => join(DEBIAN, version, 'bin')),
  ];
  const found = folders.find((folder) => PROGRAMS.every((name) => existsSync(join(folder, name))));
  if (!found)
    throw new Error(
      `PostgreSQL is not installed: ${PROGRAMS.join(', ')} are neither on PATH nor under ${DEBIAN}; ` +
        `on Debian, apt-get update && apt-get install postgresql`,
    );
  return found;
}
