import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

export function temporaryFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), 'migrate-test-')));
}

export function git(folder: string, ...args: string[]): string {
  const env = { ...process.env, GIT_OPTIONAL_LOCKS: '0' };
  return execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8', env }).trim();
}

/**
 * Everything that people have in a repository: status, references, and times and sizes of all files and folders, git's own included. Its
 * store of objects is left out, to which an approved commit adds.
 */
export function snapshot(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (path) => !path.startsWith('.git/objects'),
  );
  const times = files.map((path) => {
    const { mtimeMs, size, mode } = lstatSync(join(folder, path));
    return [path, `${mtimeMs} ${size} ${mode}`];
  });
  return {
    ...Object.fromEntries(times),
    '(status)': git(folder, 'status', '--porcelain', '--branch'),
    '(refs)': git(folder, 'for-each-ref'),
    '(config)': readFileSync(join(folder, '.git/config'), 'utf8'),
  };
}

/** Waits until a command has written its process ID. */
export async function startedProcess(path: string): Promise<number> {
  await until(`${path} is written`, () => existsSync(path) && readFileSync(path, 'utf8').endsWith('\n'));
  return Number(readFileSync(path, 'utf8'));
}

export async function until(what: string, holds: () => boolean, limitMs = 45_000): Promise<void> {
  const end = Date.now() + limitMs;
  while (!holds()) {
    if (Date.now() > end) throw new Error(`waited ${limitMs} ms, but not: ${what}`);
    await delay(50);
  }
}

/** Whether a process runs. One that has ended and isn't reaped yet doesn't. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const stat = `/proc/${pid}/stat`;
  return !(existsSync(stat) && / Z /.test(readFileSync(stat, 'utf8')));
}
