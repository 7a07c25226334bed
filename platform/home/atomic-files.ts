/** Atomic writes: writes a temporary file, then renames it. A killed process leaves its temporary file, which workers remove. */
import { randomUUID } from 'node:crypto';
import { chmod, stat } from 'node:fs/promises';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const TEMPORARY = /\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp$/;

export function temporaryPath(path: string): string {
  return `${path}.${randomUUID()}.tmp`;
}

/** Writes a file atomically: readers and concurrent writers never see a partial one. @param mode default: 0o666, less the umask */
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

/** Creates a private file if it is missing. The first of several processes wins. */
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

/** Anyone who may read the file may also execute it, so the umask applies to both. */
export async function makeExecutable(path: string): Promise<void> {
  const { mode } = await stat(path);
  await chmod(path, (mode & 0o777) | ((mode & 0o444) >> 2));
}

export function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    return undefinedIfMissing(error);
  }
}

/** For `catch`: maps a missing file's error to undefined, and rethrows others. */
export function undefinedIfMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
  throw error;
}

export function isTemporaryPath(path: string): boolean {
  return TEMPORARY.test(path);
}
