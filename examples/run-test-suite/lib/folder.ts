/** Folders that callers may name. */
import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';
import { ApplicationFailure } from '@temporalio/activity';
import { workerSettings } from 'longhaul/activity';

/**
 * Calls run what they find, so only folders that the worker's settings name are open to them.
 *
 * @param given absolute, or relative to one of those folders
 * @returns its path without symbolic links
 */
export async function allowedFolder(given: string): Promise<string> {
  const { dataFolders } = workerSettings();
  const roots = await Promise.all(dataFolders.map((folder) => realpath(folder).catch(() => resolve(folder))));
  for (const root of roots) {
    const real = await realpath(resolve(root, given)).catch(() => undefined);
    if (real === undefined || !(await stat(real)).isDirectory()) continue;
    const isWithin = roots.some((one) => {
      const path = relative(one, real);
      return path !== '..' && !path.startsWith('../') && !isAbsolute(path);
    });
    if (isWithin) return real;
  }
  // The same words for both, so that calls can't look around elsewhere.
  throw ApplicationFailure.nonRetryable(
    `${given}: there is no such folder within the data folders`,
    'NoFolder',
  );
}
