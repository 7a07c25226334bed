import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { filesMatching, isGlob, resolveInFolders, type DataFolders } from '../../platform/data-folders.js';
import { DatasetError } from './errors.js';

export type DatasetFormat = 'csv' | 'json' | 'parquet';

export interface LocatedFile {
  /** Name of the file in messages. */
  name: string;
  /** Absolute, without symbolic links. */
  realPath: string;
  format: DatasetFormat;
  bytes: number;
}

/** One file, or all that match a pattern. */
export interface DatasetFile {
  /** As the caller wrote it; the only spelling that messages show. */
  givenPath: string;
  /** At least one, sorted by name, all of one format, none empty. */
  files: LocatedFile[];
  format: DatasetFormat;
  /** Total size of all files on disk. */
  bytes: number;
  notes: string[];
}

/** Maximum number of files that a pattern may match. */
const MAX_FILES = 1000;

const FORMATS: [RegExp, DatasetFormat][] = [
  [/\.(csv|tsv)(\.gz)?$/i, 'csv'],
  [/\.(json|ndjson|jsonl)(\.gz)?$/i, 'json'],
  [/\.(parquet|pq)$/i, 'parquet'],
];

/**
 * Finds a file under the allowed folders, or the files that match a pattern; a file that is called like the pattern comes
 * first. A path that is outside or private by its spelling is refused without access to the disk, which would reveal what exists
 * there; one that leads there over a symbolic link is refused afterwards.
 * @throws DatasetError not_allowed, not_found, unsupported_format, unreadable
 */
export async function locate(givenPath: string, dataFolders: DataFolders): Promise<DatasetFile> {
  if (/^[a-z][a-z0-9+.-]+:/i.test(givenPath) || givenPath.includes('\0')) {
    throw new DatasetError(
      'not_allowed',
      `path: expected a file under an allowed folder; got ${JSON.stringify(givenPath)}`,
    );
  }
  const { candidates, isPrivate, mayRead } = await resolveInFolders(givenPath, dataFolders);
  if (candidates.length === 0) throw outside(givenPath, dataFolders, isPrivate);

  for (const candidate of candidates) {
    const real = await realpath(candidate).catch((thrown: unknown) => unresolved(thrown, givenPath));
    if (real === undefined) continue;
    if (!mayRead(real)) throw outside(givenPath, dataFolders);
    const found = await stat(real);
    if (!found.isFile()) {
      throw new DatasetError('unreadable', `path: expected a file; ${givenPath} is a folder or a device`);
    }
    await access(real, constants.R_OK).catch((thrown: unknown) => unresolved(thrown, givenPath));
    const file = { name: givenPath, realPath: real, format: formatOf(givenPath), bytes: found.size };
    return datasetOf(givenPath, [file]);
  }
  if (isGlob(givenPath)) return locatePattern(givenPath, dataFolders);
  throw new DatasetError(
    'not_found',
    `path: there is no file ${givenPath} (allowed folders: ${dataFolders.folders.join(', ')})`,
  );
}

async function locatePattern(pattern: string, dataFolders: DataFolders): Promise<DatasetFile> {
  const matches = await filesMatching(pattern, dataFolders);
  if (!matches) throw outside(`${pattern}, which matches something else`, dataFolders);
  if (matches.length === 0) {
    throw new DatasetError(
      'not_found',
      `path: no file matches ${pattern} (allowed folders: ${dataFolders.folders.join(', ')})`,
    );
  }
  if (matches.length > MAX_FILES) {
    throw new DatasetError(
      'unreadable',
      `path: expected a pattern that matches at most ${MAX_FILES} files; ${pattern} matches ${matches.length}`,
    );
  }
  const files = matches.map((match) => ({ ...match, format: formatOf(match.name) }));
  const other = files.find(({ format }) => format !== files[0]!.format);
  if (other) {
    throw new DatasetError(
      'unsupported_format',
      `path: expected files of one format; ${pattern} matches ${files[0]!.name} (${files[0]!.format}) and ` +
        `${other.name} (${other.format})`,
    );
  }
  for (const { realPath, name } of files) {
    await access(realPath, constants.R_OK).catch((thrown: unknown) => unresolved(thrown, name));
  }
  return datasetOf(pattern, files);
}

/** @throws DatasetError unreadable, when there is nothing to read */
function datasetOf(givenPath: string, all: LocatedFile[]): DatasetFile {
  const files = all.filter(({ bytes }) => bytes > 0);
  const { format } = all[0]!;
  if (files.length === 0) {
    const isOne = all.length === 1;
    throw new DatasetError(
      'unreadable',
      `path: ${isOne ? all[0]!.name : `each of the ${all.length} files that match ${givenPath}`} is empty (0 bytes); ` +
        `expected ${format} data`,
    );
  }
  const notes: string[] = [];
  if (files.length > 1 || files[0]!.name !== givenPath)
    notes.push(
      files.length === 1
        ? `${givenPath} matches one file: ${files[0]!.name}.`
        : `${files.length} files are read, from ${files[0]!.name} to ${files.at(-1)!.name}.`,
    );
  const empty = all.filter(({ bytes }) => bytes === 0).map(({ name }) => name);
  if (empty.length > 0)
    notes.push(
      `Empty files (0 bytes) are left out: ${empty.slice(0, 5).join(', ')}${empty.length > 5 ? ', ...' : ''}.`,
    );
  return { givenPath, files, format, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0), notes };
}

function formatOf(givenPath: string): DatasetFormat {
  const format = FORMATS.find(([ending]) => ending.test(givenPath))?.[1];
  if (format) return format;
  throw new DatasetError(
    'unsupported_format',
    `path: expected a name ending in .csv, .tsv, .json, .ndjson, .jsonl (each also with .gz), .parquet or .pq; got ${givenPath}`,
  );
}

function outside(givenPath: string, { folders }: DataFolders, isPrivate = false): DatasetError {
  const other = isPrivate ? ", other than Longhaul's own (home, keys, audit log)" : '';
  return new DatasetError(
    'not_allowed',
    `path: expected a file under ${folders.join(' or ') || 'an allowed folder (none is set)'}${other}; got ${givenPath}`,
  );
}

function unresolved(thrown: unknown, givenPath: string): undefined {
  const code = (thrown as { code?: string }).code;
  if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG') return undefined;
  if (code === 'ELOOP') {
    throw new DatasetError('unreadable', `path: ${givenPath} is a symbolic link that leads to itself`);
  }
  if (code === 'EACCES') {
    throw new DatasetError('unreadable', `path: ${givenPath} may not be read by the worker`);
  }
  throw thrown;
}
