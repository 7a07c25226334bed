/** Files that callers name, under the folders that they may read. */
import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';

/** Where a path may lead. */
export interface Places {
  /** Absolute spellings under a folder, in the folders' order; none when the path is outside of all. */
  inside: string[];
  /** The folders without symbolic links: what a found file has to be under as well. */
  realFolders: string[];
}

/**
 * Looks a path up by its spelling, without a look at the file, so that nobody can learn what exists elsewhere.
 *
 * @param givenPath absolute, or relative to a folder; no URL
 */
export async function placesOf(givenPath: string, folders: readonly string[]): Promise<Places> {
  const realFolders = await Promise.all(
    folders.map((folder) => realpath(folder).catch(() => path.resolve(folder))),
  );
  if (/^[a-z][a-z0-9+.-]+:/i.test(givenPath) || givenPath.includes('\0')) return { inside: [], realFolders };
  const spelledFolders = [...folders.map((folder) => path.resolve(folder)), ...realFolders];
  const candidates = path.isAbsolute(givenPath)
    ? [path.resolve(givenPath)]
    : realFolders.map((folder) => path.resolve(folder, givenPath));
  return { inside: candidates.filter((candidate) => isUnder(candidate, spelledFolders)), realFolders };
}

export function isUnder(file: string, folders: readonly string[]): boolean {
  return folders.some((folder) => {
    const relative = path.relative(folder, file);
    return (
      relative !== '' &&
      !relative.startsWith('..' + path.sep) &&
      relative !== '..' &&
      !path.isAbsolute(relative)
    );
  });
}

/** Size of a file under the folders, in bytes; undefined for one that isn't there, or not for callers. */
export async function fileBytes(givenPath: string, folders: readonly string[]): Promise<number | undefined> {
  const { inside, realFolders } = await placesOf(givenPath, folders);
  for (const candidate of inside) {
    const real = await realpath(candidate).catch(() => undefined);
    if (real === undefined) continue;
    if (!isUnder(real, realFolders)) return undefined;
    const found = await stat(real).catch(() => undefined);
    return found?.isFile() ? found.size : undefined;
  }
  return undefined;
}
