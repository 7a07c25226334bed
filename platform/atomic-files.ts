/**
 * Atomic writes: files are written under a temporary name and renamed once complete. A process killed in between leaves the
 * temporary file behind; workers remove those.
 */
import { randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const TEMPORARY = /\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp$/;

/** Time without a write after which a temporary file counts as abandoned, in milliseconds: a day. */
export const ABANDONED_AFTER_MS = 24 * 3600_000;

/** A new temporary path for writing a file. */
export function temporaryPath(path: string): string {
  return `${path}.${randomUUID()}.tmp`;
}

/**
 * Writes a file atomically: readers and concurrent writers never see a partial one.
 *
 * @param mode permissions. Default: 0o666, less the umask
 */
export function writeFileAtomically(path: string, text: string, mode?: number): void {
  const temporary = temporaryPath(path);
  try {
    writeFileSync(temporary, text, { mode });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Creates a private file, unless there is one: the first of several processes wins. */
export function createFileOnce(path: string, contents: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = temporaryPath(path);
  try {
    writeFileSync(temporary, contents, { mode: 0o600, flag: 'wx' });
    linkSync(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Reads a file; undefined if there is none. */
export function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    return undefinedIfMissing(error);
  }
}

/** For `catch`: undefined in place of the error of a missing file; other errors pass through. */
export function undefinedIfMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
  throw error;
}

/** Whether a path is a temporary file's. */
export function isTemporaryPath(path: string): boolean {
  return TEMPORARY.test(path);
}

/** Removes the files of {@link abandonedFiles}. @returns the number of removed files */
export async function removeTemporaryFiles(home: string, now = Date.now()): Promise<number> {
  const left = await abandonedFiles(home, now);
  await Promise.all(left.map((path) => rm(path, { recursive: true, force: true })));
  return left.length;
}

/**
 * Temporary files that killed processes have left in a home, and folders of killed backups. Skips workspaces, where steps have files of any name:
 * each workspace is removed as a whole.
 */
export async function abandonedFiles(home: string, now = Date.now()): Promise<string[]> {
  // Loaded on demand: processes that only write files start faster without it.
  const { glob } = await import('tinyglobby');
  const paths = await glob('**/*.tmp', {
    cwd: home,
    // A backup that was killed leaves a folder.
    onlyFiles: false,
    expandDirectories: false,
    dot: true,
    ignore: ['workspaces/**'],
    followSymbolicLinks: false,
  });
  const left: string[] = [];
  for (const path of paths.filter(isTemporaryPath).map((path) => join(home, path))) {
    const file = await stat(path).catch(() => undefined);
    if (file && now - file.mtimeMs > ABANDONED_AFTER_MS) left.push(path);
  }
  return left;
}
