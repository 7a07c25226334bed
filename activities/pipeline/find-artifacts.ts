/** Finds the workspace files that a job's patterns name, and which of them can't be saved. */
import { readdir, type Dirent } from 'node:fs';
import { lstat, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import { glob, type GlobOptions } from 'tinyglobby';
import type { UnsavedArtifact } from '../../operations/record.js';
import { showAsFile } from '../../platform/storage/data-folders.js';

/** Maximum number of files of one job; keep more as one archive. */
const MAX_FILES = 1_000;

export const NO_MATCH = 'no file in the workspace matches it';

export const OUTSIDE = 'leads out of the workspace';

/** Reasons by system error, for errors that only the file itself causes. */
const REASONS: Partial<Record<string, string>> = {
  EACCES: "can't be read: permission denied",
  EPERM: "can't be read: operation not permitted",
  EIO: "can't be read: input/output error",
  ELOOP: 'is a link in a loop',
  ENAMETOOLONG: 'has a path that is too long: move it further up in the workspace',
  ENOENT: 'vanished before it was saved',
  ENOTDIR: 'vanished before it was saved',
};

/** Why a file can't be saved, by a system error; undefined for an error that isn't the file's. */
export function reasonOf(error: unknown): string | undefined {
  return REASONS[(error as NodeJS.ErrnoException).code ?? ''];
}

/** A file or an empty folder. */
export interface FoundArtifact {
  /** Path in the workspace, with `/`. */
  path: string;
  /** Absolute, without links. */
  realPath: string;
  isFolder: boolean;
}

export interface FoundArtifacts {
  /** Sorted by path. */
  found: FoundArtifact[];
  unsaved: UnsavedArtifact[];
}

/**
 * Finds what the patterns name. A file that can't be saved never hides another one. Links to folders of the workspace are left
 * out, because the folders' own paths find their files.
 *
 * @param patterns paths and glob patterns; `!` marks exclusions
 */
export async function findArtifacts(workspace: string, patterns: readonly string[]): Promise<FoundArtifacts> {
  const root = await realpath(workspace);
  const ignore = patterns.filter((pattern) => pattern.startsWith('!')).map((pattern) => pattern.slice(1));
  const all = new Map<string, FoundArtifact | UnsavedArtifact | undefined>();
  const missing: UnsavedArtifact[] = [];
  for (const pattern of patterns.filter((each) => !each.startsWith('!'))) {
    if (isAbsolute(pattern) || pattern.split('/').includes('..')) {
      missing.push({ path: pattern, reason: OUTSIDE });
      continue;
    }
    const matches = await findMatches(root, pattern.replace(/^(\.\/)+/, '') || '.', ignore);
    const named = [...matches].filter(([, match]) => match !== undefined);
    for (const [path, match] of named) all.set(path, match);
    if (named.length > 0) continue;
    if (matches.size === 0) missing.push({ path: pattern, reason: NO_MATCH });
    else for (const path of matches.keys()) all.set(path, { path, reason: FOLDER_LINK });
  }
  const sorted = [...all.values()].filter((one) => one !== undefined).sort(byPath);
  const found = sorted.filter((one) => 'realPath' in one);
  const unsaved = [...missing, ...sorted.filter((one) => 'reason' in one)];
  const [kept, rest] = [found.slice(0, MAX_FILES), found.slice(MAX_FILES)];
  if (rest.length > 0) unsaved.push({ path: rest[0]!.path, reason: tooMany(rest.length) });
  return { found: kept, unsaved };
}

const FOLDER_LINK = 'is a link to a folder: name the folder itself';

function tooMany(count: number): string {
  const others = count === 1 ? '' : `, with ${count - 1} after it`;
  return `is beyond the ${MAX_FILES} files that a job can keep${others}: pack them into an archive`;
}

function byPath({ path: one }: { path: string }, { path: other }: { path: string }): number {
  return one < other ? -1 : 1;
}

/** Matches of a pattern, by path; undefined for a link to a folder of the workspace. */
async function findMatches(
  root: string,
  pattern: string,
  ignore: string[],
): Promise<Map<string, FoundArtifact | UnsavedArtifact | undefined>> {
  const listing = new Listing(root);
  const paths = await glob(pattern, {
    cwd: root,
    ignore,
    dot: true,
    fs: listing.fs,
    onlyFiles: false,
    expandDirectories: true,
  });
  const matches = new Map<string, FoundArtifact | UnsavedArtifact | undefined>();
  for (const { path, reason } of listing.unreadable) matches.set(path, { path, reason });
  for (const path of paths.map((one) => decodeBreaks(withoutSlash(one)))) {
    if (path === '' || path === '.' || matches.has(path)) continue;
    const match = await inspect(root, path, listing);
    if (match !== 'folder') matches.set(path, match);
  }
  return matches;
}

/** `folder` for a non-empty one; undefined for a link to a folder of the workspace. */
async function inspect(
  root: string,
  path: string,
  listing: Listing,
): Promise<FoundArtifact | UnsavedArtifact | 'folder' | undefined> {
  const full = join(root, path);
  let isLink = false;
  try {
    isLink = (await lstat(full)).isSymbolicLink();
    const realPath = await realpath(full);
    if (!realPath.startsWith(root + sep) && realPath !== root)
      return { path, reason: 'is a link that leads out of the workspace' };
    const file = await stat(realPath);
    if (file.isFile()) return { path, realPath, isFolder: false };
    if (!file.isDirectory()) return { path, reason: `is ${kindOf(file)}: only files can be saved` };
    if (isLink) return undefined;
    return listing.isEmpty(full) ? { path, realPath, isFolder: true } : 'folder';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (isLink && code === 'ENOENT') return { path, reason: 'is a broken link' };
    return { path, reason: unlistedReason(path, error) ?? String((error as Error).message) };
  }
}

/** Node.js shows non-UTF-8 bytes as U+FFFD, so such a name finds no file. */
function unlistedReason(path: string, error: unknown): string | undefined {
  const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
  return isMissing && path.includes('\ufffd') ? 'has a name that is not UTF-8: rename it' : reasonOf(error);
}

/** @param file that is no file, folder or link */
function kindOf(file: { isFIFO(): boolean; isSocket(): boolean }): string {
  if (file.isFIFO()) return 'a FIFO';
  return file.isSocket() ? 'a socket' : 'a device';
}

/** Lists folders for tinyglobby, which silently skips unreadable folders and anything but files and folders. */
class Listing {
  readonly unreadable: UnsavedArtifact[] = [];
  readonly #empty = new Set<string>();

  constructor(private readonly root: string) {}

  readonly fs = {
    readdir: (
      path: string,
      options: { withFileTypes: true },
      done: (error: unknown, entries?: Dirent[]) => void,
    ) => {
      const folder = decodeBreaks(withoutSlash(path));
      readdir(folder, options, (error, entries = []) => {
        if (error) this.#addUnreadable(folder, error);
        else if (entries.length === 0) this.#empty.add(folder);
        for (const entry of entries) {
          entry.name = encodeBreaks(entry.name);
          if (!entry.isDirectory()) showAsFile(entry);
        }
        done(null, entries);
      });
    },
  } as unknown as NonNullable<GlobOptions['fs']>;

  isEmpty(path: string): boolean {
    return this.#empty.has(path);
  }

  #addUnreadable(folder: string, error: unknown): void {
    const path = relative(this.root, folder).split(sep).join('/');
    const reason = unlistedReason(path, error);
    // Otherwise the pattern's beginning is no folder: it finds nothing.
    if (path !== '' && reason !== REASONS['ENOENT'])
      this.unreadable.push({ path, reason: reason ?? String((error as Error).message) });
  }
}

/** Line breaks, which the pattern library's `**` doesn't match, and their stand-ins in a private-use area. */
const BREAKS = ['\n', '\r', '\u2028', '\u2029'];
const STAND_INS = BREAKS.map((_, at) => String.fromCodePoint(0x10fff0 + at));

function encodeBreaks(name: string): string {
  return name.replace(/[\n\r\u2028\u2029]/g, (found) => STAND_INS[BREAKS.indexOf(found)]!);
}

function decodeBreaks(path: string): string {
  return path.replace(/[\u{10fff0}-\u{10fff3}]/gu, (found) => BREAKS[STAND_INS.indexOf(found)]!);
}

function withoutSlash(path: string): string {
  return path.replace(/\/$/, '');
}
