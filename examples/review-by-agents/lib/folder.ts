/** Paths that callers and diffs name, held inside of the folders that Longhaul may read. */
import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';

/** Whether a path is that of the folder or in it. Both are real paths. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (!way.startsWith('..') && !isAbsolute(way));
}

/** Where callers may read: the data folders, without Longhaul's home in them. */
export interface Readable {
  dataFolders: readonly string[];
  home: string;
}

/**
 * The real path of a folder or file that a caller names.
 *
 * @param path absolute, or from the first of the data folders
 * @returns undefined for a path outside of the data folders, or in the home
 * @throws Error for a path that doesn't exist
 */
export async function allowedPath(
  { dataFolders, home }: Readable,
  path: string,
): Promise<string | undefined> {
  const real = await realpath(resolve(dataFolders[0] ?? '.', path));
  const folders = await Promise.all(dataFolders.map((folder) => realpath(folder)));
  return folders.some((folder) => isInside(folder, real)) && !isInside(await realpath(home), real)
    ? real
    : undefined;
}

/** The real path of a file that a diff names. @returns undefined when it is missing, outside, also by a link, or in the home */
export async function fileIn(folder: string, path: string, home: string): Promise<string | undefined> {
  const real = await realpath(resolve(folder, path)).catch(() => undefined);
  if (real === undefined || !isInside(folder, real) || isInside(await realpath(home), real)) return undefined;
  return real;
}
