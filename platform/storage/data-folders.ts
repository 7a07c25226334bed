/** Resolves paths and glob patterns from callers within the data folders. */
import { readdir, type Dirent } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { glob, type GlobOptions } from 'tinyglobby';
import { realPathOf } from '../home/real-path.js';

export interface DataFolders {
  folders: readonly string[];
  /** Absolute paths of files and folders that callers may not read, even inside `folders`. */
  privatePaths: readonly string[];
}

export interface ResolvedPath {
  /** Absolute, non-private paths within a folder, in the folders' order; empty when the path is outside of all. */
  candidates: string[];
  /** The folders with symbolic links resolved. */
  realFolders: string[];
  /** Whether a path within a folder was left out because it is private. */
  isPrivate: boolean;
  /** Whether callers may read a path. It must have no symbolic links. */
  mayRead: (realPath: string) => boolean;
}

/** Resolves a path, which isn't a URL, by spelling alone, so callers can't learn which files exist elsewhere. */
export async function resolveInFolders(
  givenPath: string,
  { folders, privatePaths }: DataFolders,
): Promise<ResolvedPath> {
  const realFolders = await Promise.all(
    folders.map((folder) => realpath(folder).catch(() => path.resolve(folder))),
  );
  const realPrivatePaths = privatePaths.map((each) => realPathOf(each));
  const isPrivate = (file: string, paths: readonly string[]) => paths.includes(file) || isUnder(file, paths);
  const mayRead = (realPath: string) =>
    isUnder(realPath, realFolders) && !isPrivate(realPath, realPrivatePaths);
  if (/^[a-z][a-z0-9+.-]+:/i.test(givenPath) || givenPath.includes('\0'))
    return { candidates: [], realFolders, isPrivate: false, mayRead };
  const spelledFolders = [...folders.map((folder) => path.resolve(folder)), ...realFolders];
  const spelled = path.isAbsolute(givenPath)
    ? [path.resolve(givenPath)]
    : realFolders.map((folder) => path.resolve(folder, givenPath));
  const inFolders = spelled.filter((each) => isUnder(each, spelledFolders));
  const candidates = inFolders.filter((each) => !isPrivate(each, [...privatePaths, ...realPrivatePaths]));
  return { candidates, realFolders, isPrivate: candidates.length < inFolders.length, mayRead };
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
  /** Path of the file, relative to its folder if the pattern is relative. */
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
 * Files that match a pattern, sorted by name, from the first folder that has any. Hidden files need a leading dot in the pattern.
 * Private files never match. Links to files match; `**` doesn't follow links to folders.
 *
 * @returns undefined when the pattern or a match leads outside of the folders
 * @throws the signal's reason once it is aborted
 */
export async function filesMatching(
  pattern: string,
  dataFolders: DataFolders,
  signal?: AbortSignal,
): Promise<Match[] | undefined> {
  const { candidates, realFolders, mayRead } = await resolveInFolders(pattern, dataFolders);
  if (candidates.length === 0) return undefined;
  for (const candidate of candidates) {
    const segments = candidate.split(path.sep);
    const first = segments.findIndex(isGlob);
    const spelledBase = segments.slice(0, first).join(path.sep) || path.sep;
    const base = await realpath(spelledBase).catch(() => undefined);
    if (base === undefined) continue;
    if (!realFolders.includes(base) && !mayRead(base)) return undefined;
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
      if (!file.isFile() || !mayRead(realPath)) continue;
      const spelled = path.join(spelledBase, relative);
      const folder = realFolders.find((each) => isUnder(spelled, [each]));
      const name = path.isAbsolute(pattern) || !folder ? spelled : path.relative(folder, spelled);
      matches.push({ name, realPath, bytes: file.size });
    }
    if (matches.length > 0) return matches.sort((one, other) => (one.name < other.name ? -1 : 1));
  }
  return [];
}

/** Bytes of a file, or of all files that match a pattern. Undefined for a missing or unreadable file, and after an abort. */
export async function fileBytes(
  givenPath: string,
  dataFolders: DataFolders,
  signal?: AbortSignal,
): Promise<number | undefined> {
  const { candidates, mayRead } = await resolveInFolders(givenPath, dataFolders);
  for (const candidate of candidates) {
    const real = await realpath(candidate).catch(() => undefined);
    if (real === undefined) continue;
    if (!mayRead(real)) return undefined;
    const found = await stat(real).catch(() => undefined);
    return found?.isFile() ? found.size : undefined;
  }
  if (!isGlob(givenPath)) return undefined;
  const matches = await filesMatching(givenPath, dataFolders, signal).catch((thrown: unknown) => {
    if (signal?.aborted) return undefined;
    throw thrown;
  });
  return matches?.length ? matches.reduce((sum, { bytes }) => sum + bytes, 0) : undefined;
}

/** Lists symbolic links without following them: callers check the targets. */
const LINKS_AS_FILES = {
  readdir(
    folder: string,
    options: { withFileTypes: true },
    done: (error: unknown, entries?: Dirent[]) => void,
  ) {
    readdir(folder, options, (error, entries) => {
      if (error) return done(error);
      for (const entry of entries) if (entry.isSymbolicLink()) showAsFile(entry);
      done(null, entries);
    });
  },
} as unknown as NonNullable<GlobOptions['fs']>;

/** For tinyglobby, which follows links and leaves out what is neither file nor folder. */
export function showAsFile(entry: Dirent): void {
  entry.isSymbolicLink = () => false;
  entry.isFile = () => true;
}
