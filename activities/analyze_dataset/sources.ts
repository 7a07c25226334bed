/** Finds the files of a dataset in the data folders, and copies those that aren't UTF-8. */
import { constants, createReadStream, createWriteStream } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { DataFolders, Match } from '../../platform/storage/data-folders.js';
import { filesMatching, isGlob, resolveInFolders } from '../../platform/storage/data-folders.js';
import { DatasetError, messageOf, unreadable } from './errors.js';

export type DatasetFormat = 'csv' | 'json' | 'parquet';

/** One file, or all that match a pattern. */
export interface DatasetFile {
  /** As the caller wrote it; the only spelling that messages show. */
  givenPath: string;
  /** At least one, sorted by name, none empty. */
  files: Match[];
  format: DatasetFormat;
  /** Total size of all files on disk. */
  bytes: number;
  notes: string[];
}

/** Maximum number of files that a pattern may match. */
const MAX_FILES = 1000;
const CHUNK_BYTES = 1024 ** 2;
/** Byte order marks, in hexadecimal. */
const UTF_16: Record<string, string> = { fffe: 'utf-16le', feff: 'utf-16be' };
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
  const { candidates, isPrivate, mayRead } = await resolveInFolders(givenPath, dataFolders);
  if (candidates.length === 0) throw outside(givenPath, dataFolders, isPrivate);
  for (const candidate of candidates) {
    const realPath = await realpath(candidate).catch((thrown: unknown) => unresolved(thrown, givenPath));
    if (realPath === undefined) continue;
    if (!mayRead(realPath)) throw outside(givenPath, dataFolders);
    const found = await stat(realPath);
    if (!found.isFile()) throw unreadable(`path: expected a file; ${givenPath} is a folder or a device`);
    return datasetOf(givenPath, [{ name: givenPath, realPath, bytes: found.size }]);
  }
  const matches = isGlob(givenPath) ? await filesMatching(givenPath, dataFolders) : [];
  if (!matches) throw outside(`${givenPath}, which matches something else`, dataFolders);
  if (matches.length === 0) {
    const fault = isGlob(givenPath) ? 'no file matches' : 'there is no file';
    const folders = dataFolders.folders.join(', ');
    throw new DatasetError('not_found', `path: ${fault} ${givenPath} (allowed folders: ${folders})`);
  }
  const most = `expected a pattern that matches at most ${MAX_FILES} files`;
  if (matches.length > MAX_FILES) throw unreadable(`path: ${most}; ${givenPath} matches ${matches.length}`);
  return datasetOf(givenPath, matches);
}

async function datasetOf(givenPath: string, all: Match[]): Promise<DatasetFile> {
  const first = all[0]!.name;
  const format = formatOf(first);
  const other = all.find(({ name }) => formatOf(name) !== format)?.name;
  if (other !== undefined)
    throw new DatasetError(
      'unsupported_format',
      `path: expected files of one format; ${givenPath} matches ${first} (${format}) and ${other} (${formatOf(other)})`,
    );
  for (const { realPath, name } of all)
    await access(realPath, constants.R_OK).catch((thrown: unknown) => unresolved(thrown, name));
  const files = all.filter(({ bytes }) => bytes > 0);
  if (files.length === 0) {
    const which = all.length === 1 ? first : `each of the ${all.length} files that match ${givenPath}`;
    throw unreadable(`path: ${which} is empty (0 bytes); expected ${format} data`);
  }
  const notes: string[] = [];
  if (files.length > 1)
    notes.push(
      `${files.length} files are read, from ${files[0]!.name} to ${files.at(-1)!.name}. Their columns are joined by name: ` +
        'one that a file lacks has no value in its rows.',
    );
  else if (files[0]!.name !== givenPath) notes.push(`${givenPath} matches one file: ${files[0]!.name}.`);
  const empty = all.filter(({ bytes }) => bytes === 0).map(({ name }) => name);
  if (empty.length > 0)
    notes.push(
      `Empty files (0 bytes) are left out: ${empty.slice(0, 5).join(', ')}${empty.length > 5 ? ', ...' : ''}.`,
    );
  return { givenPath, files, format, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0), notes };
}

function formatOf(name: string): DatasetFormat {
  const format = FORMATS.find(([ending]) => ending.test(name))?.[1];
  if (format) return format;
  const endings = '.csv, .tsv, .json, .ndjson, .jsonl (each also with .gz), .parquet or .pq';
  throw new DatasetError('unsupported_format', `path: expected a name ending in ${endings}; got ${name}`);
}

function outside(givenPath: string, { folders }: DataFolders, isPrivate = false): DatasetError {
  const other = isPrivate ? ", other than Longhaul's own (home, keys, audit log)" : '';
  const expected = `a file under ${folders.join(' or ') || 'an allowed folder (none is set)'}${other}`;
  return new DatasetError('not_allowed', `path: expected ${expected}; got ${givenPath}`);
}

function unresolved(thrown: unknown, givenPath: string): undefined {
  const { code = '' } = thrown as { code?: string };
  if (['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes(code)) return undefined;
  if (code === 'ELOOP') throw unreadable(`path: ${givenPath} is a symbolic link that leads to itself`);
  if (code === 'EACCES') throw unreadable(`path: ${givenPath} may not be read by the worker`);
  throw thrown;
}

/** A file by the name that messages show and the path that is read. */
export type Readable = Pick<Match, 'name' | 'realPath'>;

/**
 * The file's content, unpacked, in chunks. A gzip file that is cut off or damaged throws: DuckDB takes either for the end of the
 * file.
 *
 * @throws DatasetError unreadable
 */
export async function* contentOf({ name, realPath }: Readable): AsyncGenerator<Buffer, void, undefined> {
  const raw = createReadStream(realPath, { highWaterMark: CHUNK_BYTES });
  const stream = realPath.toLowerCase().endsWith('.gz')
    ? createGunzip({ chunkSize: CHUNK_BYTES })
    : undefined;
  // Its errors come out of the loop.
  if (stream) void pipeline(raw, stream).catch(() => undefined);
  try {
    for await (const chunk of (stream ?? raw) as AsyncIterable<Buffer>) yield chunk;
  } catch (thrown) {
    const isGzipFault = /^Z_/.test((thrown as { code?: string }).code ?? '');
    throw isGzipFault
      ? unreadable(`path: ${name} is no gzip file, or one that is cut off or damaged (${messageOf(thrown)})`)
      : thrown;
  } finally {
    stream?.destroy();
    raw.destroy();
  }
}

/**
 * Copies a file that isn't UTF-8, which DuckDB reads only then.
 *
 * @param encoding a label of the WHATWG Encoding Standard. Default: UTF-16 with a byte order mark, else UTF-8
 * @param target path of the copy
 * @returns the encoding, or undefined if no copy is needed
 * @throws DatasetError unreadable
 */
export async function copyAsUtf8(
  file: Readable,
  encoding: string | undefined,
  target: string,
): Promise<string | undefined> {
  const label = encoding ?? (await utf16Of(file));
  if (label === undefined) return undefined;
  let decoder: InstanceType<typeof TextDecoder>;
  try {
    decoder = new TextDecoder(label, { fatal: true });
  } catch {
    const expected = 'expected a name of the WHATWG Encoding Standard, such as windows-1252 or utf-16le';
    throw unreadable(`encoding: ${expected}; got ${JSON.stringify(label)}`);
  }
  if (decoder.encoding === 'utf-8') return undefined;
  async function* texts() {
    for await (const chunk of contentOf(file)) yield decoder.decode(chunk, { stream: true });
    yield decoder.decode();
  }
  await pipeline(texts, createWriteStream(target)).catch((thrown: unknown) => {
    if ((thrown as { code?: string }).code !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw thrown;
    throw unreadable(`encoding: ${file.name} is expected to be ${decoder.encoding}; it holds other bytes`);
  });
  return decoder.encoding;
}

async function utf16Of(file: Readable): Promise<string | undefined> {
  for await (const head of contentOf(file)) return UTF_16[head.toString('hex', 0, 2)];
  return undefined;
}
