/** Folders that callers may name. */
import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';
import { ApplicationFailure } from '@temporalio/activity';
import { workerSettings } from 'longhaul/activity';

/**
 * Calls run what they find, so only folders that the worker's settings name are open to them, without Longhaul's home.
 *
 * @param given absolute, or relative to one of those folders
 * @returns its path without symbolic links
 */
export async function allowedFolder(given: string): Promise<string> {
  const { home, dataFolders } = workerSettings();
  const roots = await Promise.all(dataFolders.map((folder) => realpath(folder).catch(() => resolve(folder))));
  const own = await realpath(home).catch(() => home);
  for (const root of roots) {
    const real = await realpath(resolve(root, given)).catch(() => undefined);
    if (real === undefined || !(await stat(real)).isDirectory()) continue;
    if (roots.some((one) => isWithin(one, real)) && !isWithin(own, real)) return real;
  }
  // The same words for both, so that calls can't look around elsewhere.
  throw ApplicationFailure.nonRetryable(
    `${given}: there is no such folder within the data folders`,
    'NoFolder',
  );
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith('../') && !isAbsolute(way);
}
