import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { isUnder, placesOf } from '../../platform/data-folders.js';
import { DatasetError } from './errors.js';

export type DatasetFormat = 'csv' | 'json' | 'parquet';

export interface DatasetFile {
  /** As the caller wrote it; the only spelling that messages show. */
  givenPath: string;
  /** Absolute, without symbolic links. */
  realPath: string;
  format: DatasetFormat;
  bytes: number;
}

const FORMATS: [RegExp, DatasetFormat][] = [
  [/\.(csv|tsv)(\.gz)?$/i, 'csv'],
  [/\.(json|ndjson|jsonl)(\.gz)?$/i, 'json'],
  [/\.(parquet|pq)$/i, 'parquet'],
];

/**
 * Finds a file under the allowed folders. A path that is outside by its spelling is
 * refused without a look at the disk, so nobody can learn what exists elsewhere; one
 * that leads outside over a symbolic link is refused after it.
 * @throws DatasetError not_allowed, not_found, unsupported_format, unreadable
 */
export async function locate(givenPath: string, allowedFolders: readonly string[]): Promise<DatasetFile> {
  if (/^[a-z][a-z0-9+.-]+:/i.test(givenPath) || givenPath.includes('\0')) {
    throw new DatasetError(
      'not_allowed',
      `path: expected a file under an allowed folder; got ${JSON.stringify(givenPath)}`,
    );
  }
  const { inside, realFolders } = await placesOf(givenPath, allowedFolders);
  if (inside.length === 0) throw outside(givenPath, allowedFolders);

  for (const candidate of inside) {
    const real = await realpath(candidate).catch((thrown: unknown) => unresolved(thrown, givenPath));
    if (real === undefined) continue;
    if (!isUnder(real, realFolders)) throw outside(givenPath, allowedFolders);
    const found = await stat(real);
    if (!found.isFile()) {
      throw new DatasetError('unreadable', `path: expected a file; ${givenPath} is a folder or a device`);
    }
    await access(real, constants.R_OK).catch((thrown: unknown) => unresolved(thrown, givenPath));
    return { givenPath, realPath: real, format: formatOf(givenPath), bytes: found.size };
  }
  throw new DatasetError(
    'not_found',
    `path: there is no file ${givenPath} (allowed folders: ${allowedFolders.join(', ')})`,
  );
}

function formatOf(givenPath: string): DatasetFormat {
  const format = FORMATS.find(([ending]) => ending.test(givenPath))?.[1];
  if (format) return format;
  throw new DatasetError(
    'unsupported_format',
    `path: expected a name ending in .csv, .tsv, .json, .ndjson, .jsonl (each also with .gz), .parquet or .pq; got ${givenPath}`,
  );
}

function outside(givenPath: string, allowedFolders: readonly string[]): DatasetError {
  return new DatasetError(
    'not_allowed',
    `path: expected a file under ${allowedFolders.join(' or ') || 'an allowed folder (none is set)'}; got ${givenPath}`,
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
