/** Resolves paths and glob patterns from callers within the data folders. */
import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { glob } from 'tinyglobby';
import { LINKS_AS_FILES } from './glob-links.js';

/** A caller's path, resolved against the data folders. */
export interface ResolvedPath {
  /** Absolute paths within a folder, in the folders' order; empty when the path is outside of all. */
  candidates: string[];
  /** The folders with symbolic links resolved; a file's real path must be within one of them too. */
  realFolders: string[];
}

/**
 * Resolves a path by its spelling alone, without file system access, so that callers can't learn which files exist elsewhere.
 *
 * @param givenPath absolute, or relative to a folder; not a URL
 */
export async function resolveInFolders(givenPath: string, folders: readonly string[]): Promise<ResolvedPath> {
  const realFolders = await Promise.all(
    folders.map((folder) => realpath(folder).catch(() => path.resolve(folder))),
  );
  if (/^[a-z][a-z0-9+.-]+:/i.test(givenPath) || givenPath.includes('\0'))
    return { candidates: [], realFolders };
  const spelledFolders = [...folders.map((folder) => path.resolve(folder)), ...realFolders];
  const candidates = path.isAbsolute(givenPath)
    ? [path.resolve(givenPath)]
    : realFolders.map((folder) => path.resolve(folder, givenPath));
  return { candidates: candidates.filter((candidate) => isUnder(candidate, spelledFolders)), realFolders };
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

export interface Match {
  /** Path of the file: relative to its folder if the pattern is relative. */
  name: string;
  /** Absolute, without symbolic links. */
  realPath: string;
  bytes: number;
}

/** Whether a path is a glob pattern: `*`, `?`, `[...]`, and `**` for any depth of folders. */
export function isGlob(givenPath: string): boolean {
  return /[*?[]/.test(givenPath);
}

/**
 * Files that match a pattern, sorted by name, from the first folder that has any. Hidden files match only patterns with a
 * leading dot. Links to files match; `**` doesn't descend into links to folders.
 *
 * @returns undefined when the pattern or a match leads outside of the folders
 * @throws the signal's reason once it is aborted
 */
export async function filesMatching(
  pattern: string,
  folders: readonly string[],
  signal?: AbortSignal,
): Promise<Match[] | undefined> {
  const { candidates, realFolders } = await resolveInFolders(pattern, folders);
  if (candidates.length === 0) return undefined;
  for (const candidate of candidates) {
    const segments = candidate.split(path.sep);
    const first = segments.findIndex(isGlob);
    const spelledBase = segments.slice(0, first).join(path.sep) || path.sep;
    const base = await realpath(spelledBase).catch(() => undefined);
    if (base === undefined) continue;
    if (!realFolders.includes(base) && !isUnder(base, realFolders)) return undefined;
    const found = await glob(segments.slice(first).join('/'), {
      cwd: base,
      braceExpansion: false,
      extglob: false,
      expandDirectories: false,
      fs: LINKS_AS_FILES,
      ...(signal && { signal }),
    });
    // An aborted search has found only some of the files.
    signal?.throwIfAborted();
    const matches: Match[] = [];
    for (const relative of found) {
      const realPath = await realpath(path.join(base, relative)).catch(() => undefined);
      if (realPath === undefined) continue;
      const file = await stat(realPath);
      signal?.throwIfAborted();
      if (!isUnder(realPath, realFolders)) return undefined;
      if (!file.isFile()) continue;
      const spelled = path.join(spelledBase, relative);
      const folder = realFolders.find((each) => isUnder(spelled, [each]));
      const name = path.isAbsolute(pattern) || !folder ? spelled : path.relative(folder, spelled);
      matches.push({ name, realPath, bytes: file.size });
    }
    if (matches.length > 0) return matches.sort((one, other) => (one.name < other.name ? -1 : 1));
  }
  return [];
}

/**
 * Size of a file within the folders, or of all files that match a pattern, in bytes; undefined for a file that doesn't exist
 * or that callers may not read.
 *
 * @param signal cancels the search for a pattern's files; the size is then undefined
 */
export async function fileBytes(
  givenPath: string,
  folders: readonly string[],
  signal?: AbortSignal,
): Promise<number | undefined> {
  const { candidates, realFolders } = await resolveInFolders(givenPath, folders);
  for (const candidate of candidates) {
    const real = await realpath(candidate).catch(() => undefined);
    if (real === undefined) continue;
    if (!isUnder(real, realFolders)) return undefined;
    const found = await stat(real).catch(() => undefined);
    return found?.isFile() ? found.size : undefined;
  }
  if (!isGlob(givenPath)) return undefined;
  const matches = await filesMatching(givenPath, folders, signal).catch((thrown: unknown) => {
    if (signal?.aborted) return undefined;
    throw thrown;
  });
  return matches?.length ? matches.reduce((sum, { bytes }) => sum + bytes, 0) : undefined;
}
