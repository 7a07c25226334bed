/** Files that others must find whole, also after a loss of power. */
import { open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { temporaryPath } from '../../platform/atomic-files.js';

/** Writes JSON so that it appears whole, and is on the disk once this resolves. */
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

/** Reads JSON; undefined when there is no such file, or it isn't whole. */
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
