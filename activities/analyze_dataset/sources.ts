/** Finds the files of a dataset in the data folders, and copies those that aren't UTF-8. */
import { createReadStream, createWriteStream } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { pipeline as pipe } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { DataFolders, Match } from '../../platform/storage/data-folders.js';
import { filesMatching, isGlob, resolveInFolders } from '../../platform/storage/data-folders.js';
import { DatasetError, messageOf, unreadable } from './errors.js';

export type DatasetFormat = 'csv' | 'json' | 'parquet';

/** One file, or all that match a pattern. */
export interface DatasetFile {
  /** At least one, sorted by name, none empty. */
  files: Match[];
  format: DatasetFormat;
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
    const realPath = await realpath(candidate).catch((thrown: unknown) => {
      if (/^(ENOENT|ENOTDIR|ENAMETOOLONG)/.test(messageOf(thrown))) return undefined;
      throw thrown;
    });
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

function datasetOf(givenPath: string, all: Match[]): DatasetFile {
  const first = all[0]!.name;
  const format = formatOf(first);
  const other = all.find(({ name }) => formatOf(name) !== format)?.name;
  if (other !== undefined)
    throw new DatasetError(
      'unsupported_format',
      `path: expected files of one format; ${givenPath} matches ${first} (${format}) and ${other} (${formatOf(other)})`,
    );
  const files = all.filter(({ bytes }) => bytes > 0);
  const notes: string[] = [];
  if (files.length === 0) {
    const which = all.length === 1 ? first : `each of the ${all.length} files that match ${givenPath}`;
    throw unreadable(`path: ${which} is empty (0 bytes); expected ${format} data`);
  }
  const [from, to] = [files[0]!.name, files.at(-1)!.name];
  if (files.length > 1)
    notes.push(
      `${files.length} files are read, from ${from} to ${to}. Their columns are joined by name: one that a file lacks has no ` +
        'value in its rows.',
    );
  else if (from !== givenPath) notes.push(`${givenPath} matches one file: ${from}.`);
  const empty = all.filter(({ bytes }) => bytes === 0).map(({ name }) => name);
  const more = empty.length > 5 ? ', ...' : '';
  if (empty.length > 0)
    notes.push(`Empty files (0 bytes) are left out: ${empty.slice(0, 5).join(', ')}${more}.`);
  return { files, format, notes };
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
  const isPacked = realPath.toLowerCase().endsWith('.gz');
  // Its errors come out of the loop.
  const content = isPacked ? pipe(raw, createGunzip({ chunkSize: CHUNK_BYTES }), () => undefined) : raw;
  try {
    for await (const chunk of content as AsyncIterable<Buffer>) yield chunk;
  } catch (thrown) {
    if (!/^Z_/.test((thrown as { code?: string }).code ?? '')) throw thrown;
    throw unreadable(
      `path: ${name} is no gzip file, or one that is cut off or damaged (${messageOf(thrown)})`,
    );
  }
}

/** The first bytes, unpacked; empty for a file without content. */
export async function headOf(file: Readable): Promise<Buffer> {
  for await (const head of contentOf(file)) return head;
  return Buffer.alloc(0);
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
  const label = encoding ?? UTF_16[(await headOf(file)).toString('hex', 0, 2)] ?? 'utf-8';
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
