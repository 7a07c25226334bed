/** Content of a data file as UTF-8 bytes: unpacked, and converted from UTF-16. */
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { DatasetError, messageOf } from './errors.js';
import type { LocatedFile } from './locate.js';

export type Utf16 = 'utf-16le' | 'utf-16be';

const CHUNK_BYTES = 1024 ** 2;
const HEAD_BYTES = 4096;

/** Formats that a file may have by mistake -> their first bytes. */
const SIGNATURES: [string, Buffer][] = [
  ['gzip data', Buffer.from([0x1f, 0x8b])],
  ['a ZIP archive (or an Excel workbook)', Buffer.from('PK\x03\x04')],
  ['Parquet data', Buffer.from('PAR1')],
  ['Zstandard data', Buffer.from([0x28, 0xb5, 0x2f, 0xfd])],
  ['bzip2 data', Buffer.from('BZh')],
  ['xz data', Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0])],
  ['an SQLite database', Buffer.from('SQLite format 3\0')],
  ['an old Excel workbook', Buffer.from([0xd0, 0xcf, 0x11, 0xe0])],
];

export function isGzipName(name: string): boolean {
  return /\.gz$/i.test(name);
}

/**
 * The file's content in chunks. Checks gzip's checksum: a truncated or damaged file throws instead of ending early.
 *
 * @throws DatasetError unreadable
 */
export async function* contentOf(file: LocatedFile, utf16?: Utf16): AsyncGenerator<Buffer, void, undefined> {
  const raw = createReadStream(file.realPath, { highWaterMark: CHUNK_BYTES });
  const packed = isGzipName(file.name);
  const stream = packed ? pipeline(raw, createGunzip({ chunkSize: CHUNK_BYTES }), () => undefined) : raw;
  const decoder = utf16 && new TextDecoder(utf16, { fatal: true });
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      yield decoder ? Buffer.from(decoder.decode(chunk, { stream: true })) : chunk;
    }
    if (decoder) yield Buffer.from(decoder.decode());
  } catch (thrown) {
    throw contentError(thrown, file);
  } finally {
    stream.destroy();
    raw.destroy();
  }
}

/** The first bytes of the content, at most `maxBytes`, and whether they are all. */
export async function readHead(
  file: LocatedFile,
  maxBytes: number,
  utf16?: Utf16,
): Promise<{ bytes: Buffer; isWhole: boolean }> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of contentOf(file, utf16)) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxBytes) break;
  }
  const bytes = Buffer.concat(chunks);
  return { bytes: bytes.subarray(0, maxBytes), isWhole: length <= maxBytes };
}

/**
 * Refuses a file whose content doesn't match its name, and a truncated or damaged gzip file: DuckDB takes the fault for the
 * end of the file.
 *
 * @throws DatasetError unreadable
 */
export async function checkContent(file: LocatedFile): Promise<void> {
  const packed = isGzipName(file.name);
  const plain = { ...file, name: file.name.replace(/\.gz$/i, '') };
  const { bytes: head } = await readHead(plain, HEAD_BYTES);
  const found = signatureOf(head);
  if (packed && found !== 'gzip data') {
    const holds = found ?? (head.length === 0 ? 'nothing' : 'no gzip data');
    throw unreadable(file, `has a name ending in .gz and holds ${holds}; ${wayOut(found, file, plain.name)}`);
  }
  if (file.format === 'parquet') {
    if (found !== undefined && found !== 'Parquet data')
      throw unreadable(file, `is expected to be Parquet; it holds ${found}`);
    return;
  }
  if (!packed) {
    if (found !== undefined) throw unexpected(file, found, file.name);
    return;
  }
  const { bytes: inner } = await readHead(file, HEAD_BYTES);
  const within =
    signatureOf(inner) ?? (inner.toString('latin1', 257, 262) === 'ustar' ? 'a tar archive' : undefined);
  if (within !== undefined) throw unexpected(file, within, plain.name);
  // A CSV file is read to its end later, when its records are counted.
  if (file.format !== 'csv') for await (const _ of contentOf(file));
  if (inner.length === 0) throw unreadable(file, 'is empty (0 bytes once unpacked)');
}

function unexpected(file: LocatedFile, found: string, name: string): DatasetError {
  return unreadable(
    file,
    `is expected to be ${file.format.toUpperCase()} text; it holds ${found}; ${wayOut(found, file, name)}`,
  );
}

function wayOut(found: string | undefined, file: LocatedFile, plainName: string): string {
  const stem = plainName.replace(/\.[a-z]+$/i, '');
  if (found === 'gzip data') return `rename it to ${file.name}.gz`;
  if (found === 'Parquet data') return `rename it to ${stem}.parquet`;
  if (found === undefined) return `if it is plain text, rename it to ${plainName}`;
  return 'unpack or export it first';
}

function signatureOf(head: Buffer): string | undefined {
  return SIGNATURES.find(([, magic]) => head.subarray(0, magic.length).equals(magic))?.[0];
}

function contentError(thrown: unknown, file: LocatedFile): unknown {
  const code = (thrown as { code?: string } | undefined)?.code ?? '';
  const message = messageOf(thrown);
  if (code === 'Z_BUF_ERROR') return unreadable(file, `is a gzip file that is cut off (${message})`);
  if (/^Z_/.test(code)) return unreadable(file, `is a damaged gzip file (${message})`);
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
    return unreadable(file, 'is expected to be UTF-16; it holds other bytes');
  return thrown;
}

function unreadable(file: LocatedFile, fault: string): DatasetError {
  return new DatasetError('unreadable', `path: ${file.name} ${fault}`);
}
