/**
 * Atomic writes: files are written under a temporary name and renamed once complete. A process killed in between leaves the
 * temporary file behind; workers remove those.
 */
import { randomUUID } from 'node:crypto';
import { chmod, stat } from 'node:fs/promises';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const TEMPORARY = /\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp$/;

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

/** Lets those who may read a file execute it: so the umask applies to both. */
export async function makeExecutable(path: string): Promise<void> {
  const { mode } = await stat(path);
  await chmod(path, (mode & 0o777) | ((mode & 0o444) >> 2));
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
