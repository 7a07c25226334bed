/** Builds the repository of the demo: two commits of a service, and the diff between them. */
import { execFile } from 'node:child_process';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const SAMPLE = import.meta.dirname;

export interface Repository {
  folder: string;
  diff: string;
}

/** @param output folder for `repository` and `change.diff`; both are replaced */
export async function makeRepository(output: string): Promise<Repository> {
  const folder = resolve(output, 'repository');
  const diff = resolve(output, 'change.diff');
  await rm(folder, { recursive: true, force: true });
  await mkdir(output, { recursive: true });
  await cp(join(SAMPLE, 'service'), folder, { recursive: true });
  await git(folder, 'init', '--quiet');
  await commit(folder, 'Parcels with rates, labels and tracking');
  await git(folder, 'apply', join(SAMPLE, 'change.patch'));
  await commit(folder, 'Rates by service, refunds, depots');
  await writeFile(diff, await git(folder, 'diff', '--binary', 'HEAD~1', 'HEAD'));
  return { folder, diff };
}

export async function commit(folder: string, message: string): Promise<void> {
  await git(folder, 'add', '--all');
  await git(folder, 'commit', '--quiet', '--message', message);
}

/** Settings of the user, such as hooks and signatures, stay out of it. */
export async function git(folder: string, ...args: string[]): Promise<string> {
  const own = [
    'user.name=demo',
    'user.email=demo@example.com',
    'commit.gpgsign=false',
    'core.autocrlf=false',
  ];
  const { stdout } = await run('git', [...own.flatMap((one) => ['-c', one]), ...args], {
    cwd: folder,
    env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
    maxBuffer: 64 * 2 ** 20,
  });
  return stdout;
}
