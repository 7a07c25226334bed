/** JSON files that are written atomically and durably. */
import { open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { temporaryPath } from '../../platform/home/atomic-files.js';

/** Writes JSON atomically; it is on disk once this resolves. */
export async function writeJson(path: string, value: unknown): Promise<void> {
  const unfinished = temporaryPath(path);
  try {
    const file = await open(unfinished, 'wx', 0o600);
    try {
      await file.writeFile(JSON.stringify(value));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Whether a change succeeds, such as a rename that another process may have made first. */
export function succeeds(change: Promise<unknown>): Promise<boolean> {
  return change.then(
    () => true,
    () => false,
  );
}

/** Undefined when the file is missing or incomplete. */
export async function readJson<T>(path: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T;
  } catch (error) {
    if (
      error instanceof SyntaxError ||
      ['ENOENT', 'ENOTDIR'].includes((error as { code?: string }).code ?? '')
    )
      return undefined;
    throw error;
  }
}
