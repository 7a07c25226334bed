/** The file of molecules: where it may be, and that it stays the same. */
import { realpath, stat } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import { ApplicationFailure } from '@temporalio/activity';

export interface SourceFile {
  path: string;
  bytes: number;
  modifiedMs: number;
}

/**
 * Finds a file in one of the folders that callers may read.
 *
 * @param home of Longhaul, which may be in one of them
 * @throws ApplicationFailure `FileMissing`, also for a file elsewhere: callers don't learn which files exist there
 */
export async function findSource(
  path: string,
  folders: readonly string[],
  home: string,
): Promise<SourceFile> {
  for (const folder of folders) {
    const [root, found, own] = await Promise.all(
      [folder, resolve(folder, path), home].map((one) => realpath(one).catch(() => undefined)),
    );
    if (!root || !found?.startsWith(root + sep) || (own && found.startsWith(own + sep))) continue;
    const stats = await stat(found);
    if (stats.isFile()) return { path: found, bytes: stats.size, modifiedMs: Math.trunc(stats.mtimeMs) };
  }
  throw ApplicationFailure.nonRetryable(`${path}: no such file in ${folders.join(', ')}`, 'FileMissing');
}

/** @throws ApplicationFailure `FileChanged`: the table would be of two files */
export async function assertUnchanged({ path, bytes, modifiedMs }: SourceFile): Promise<void> {
  const now = await stat(path).catch(() => undefined);
  if (now?.size === bytes && Math.trunc(now.mtimeMs) === modifiedMs) return;
  const problem = now ? 'has changed' : 'is gone';
  throw ApplicationFailure.nonRetryable(`${path} ${problem} since the run began`, 'FileChanged');
}
