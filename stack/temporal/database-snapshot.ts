/**
 * Snapshots an SQLite database without a lock, recovery or checkpoint, even while a server writes to it.
 * (SQLite file format, "The Database File" and "The Write-Ahead Log": https://www.sqlite.org/fileformat2.html)
 */
import { closeSync, copyFileSync, fstatSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';

const MAGIC = 'SQLite format 3\0';
const HEADER_BYTES = 100;
const WAL_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** Magic number of WAL files. Its last bit, cleared here, is the byte order of the checksums. */
const WAL_MAGIC = 0x377f0682;
/** An attempt fails when the write-ahead log restarts during the copy. */
const ATTEMPTS = 10;

/** The file isn't an intact database. The message says why. */
export class DamagedDatabase extends Error {
  override name = 'DamagedDatabase';
}

/** The database is too busy to copy: the write-ahead log restarted during each attempt. */
export class BusyDatabase extends Error {
  override name = 'BusyDatabase';
}

interface Snapshot {
  pages: number;
  pageBytes: number;
}

/**
 * Copies a database and its write-ahead log to `target`, as one database without a log. Until it restarts, the log holds every
 * changed page. Copying it after the file is consistent, even if a checkpoint moves pages meanwhile.
 *
 * @throws DamagedDatabase, BusyDatabase, or the system's error when the file can't be read
 */
export function copyDatabase(path: string, target: string): Snapshot {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const before = walGeneration(path);
    copyFileSync(path, target);
    const frames = readWal(`${path}-wal`);
    if (walGeneration(path) === before) return applyWal(target, frames);
  }
  throw new BusyDatabase('the database is written too fast to be copied');
}

function applyWal(target: string, wal: Wal): Snapshot {
  const file = openSync(target, 'r+');
  try {
    // Check the file's own header: SQLite reads the log only if that is valid.
    const { pageBytes } = readHeader(file);
    for (const [number, page] of wal.pages)
      writeSync(file, page, 0, page.length, (number - 1) * wal.pageBytes);
    const { size } = fstatSync(file);
    const pages = wal.total ?? readHeader(file).pages ?? Math.floor(size / pageBytes);
    if (pages * pageBytes > size)
      throw new DamagedDatabase(
        `expected ${pages * pageBytes} bytes (${pages} pages of ${pageBytes}); got ${size}: the file is truncated`,
      );
    // Read and write version 1 means no WAL: the log is merged into the file.
    writeSync(file, Buffer.from([1, 1]), 0, 2, 18);
    return { pages, pageBytes };
  } finally {
    closeSync(file);
  }
}

/** SQLite file format, "The Database Header". The page count is valid only if the last writer set it. */
function readHeader(file: number): { pageBytes: number; pages: number | undefined } {
  const header = Buffer.alloc(HEADER_BYTES);
  const read = readSync(file, header, 0, HEADER_BYTES, 0);
  if (read === 0) throw new DamagedDatabase('expected an SQLite database; got an empty file');
  const magic = header.toString('latin1', 0, Math.min(read, MAGIC.length));
  if (magic !== MAGIC)
    throw new DamagedDatabase(
      `expected a file that begins with ${JSON.stringify(MAGIC)}; got ${JSON.stringify(magic)}: the header is damaged`,
    );
  const pageBytes = pageBytesOf(header.readUInt16BE(16));
  if (pageBytes === undefined)
    throw new DamagedDatabase(
      `expected a page size of a power of two from 512 to 65536; got ${header.readUInt16BE(16)}: the header is damaged`,
    );
  const isPagesSet = header.readUInt32BE(24) === header.readUInt32BE(92);
  return { pageBytes, pages: isPagesSet ? header.readUInt32BE(28) : undefined };
}

function pageBytesOf(field: number): number | undefined {
  const bytes = field === 1 ? 65_536 : field;
  return bytes >= 512 && (bytes & (bytes - 1)) === 0 ? bytes : undefined;
}

interface Wal {
  pageBytes: number;
  /** Latest committed content by page number. */
  pages: Map<number, Buffer>;
  /** Pages of the database after the last commit; undefined without a commit. */
  total?: number;
}

/** Committed frames of a write-ahead log. Like SQLite, it finds none in a missing or invalid log. */
function readWal(path: string): Wal {
  const wal: Wal = { pageBytes: 0, pages: new Map() };
  const bytes = readIfThere(path);
  if (bytes.length < WAL_HEADER_BYTES || (bytes.readUInt32BE(0) & ~1) >>> 0 !== WAL_MAGIC) return wal;
  const isBigEndian = (bytes.readUInt32BE(0) & 1) === 1;
  wal.pageBytes = bytes.readUInt32BE(8);
  const salts = bytes.subarray(16, 24);
  let sums = checksum(bytes.subarray(0, 24), [0, 0], isBigEndian);
  if (!isSum(bytes, 24, sums) || pageBytesOf(wal.pageBytes & 0xffff || 1) === undefined) return wal;
  let pending = new Map<number, Buffer>();
  const frameBytes = FRAME_HEADER_BYTES + wal.pageBytes;
  for (let at = WAL_HEADER_BYTES; at + frameBytes <= bytes.length; at += frameBytes) {
    const page = bytes.subarray(at + FRAME_HEADER_BYTES, at + frameBytes);
    if (!bytes.subarray(at + 8, at + 16).equals(salts)) break;
    sums = checksum(page, checksum(bytes.subarray(at, at + 8), sums, isBigEndian), isBigEndian);
    if (!isSum(bytes, at + 16, sums)) break;
    pending.set(bytes.readUInt32BE(at), page);
    const total = bytes.readUInt32BE(at + 4);
    if (total === 0) continue;
    for (const [number, content] of pending) wal.pages.set(number, content);
    wal.total = total;
    pending = new Map();
  }
  return wal;
}

/** SQLite file format, "Checksum Algorithm". */
function checksum(bytes: Buffer, [first, second]: [number, number], isBigEndian: boolean): [number, number] {
  let [a, b] = [first, second];
  for (let at = 0; at < bytes.length; at += 8) {
    a = (a + (isBigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)) + b) >>> 0;
    b = (b + (isBigEndian ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4)) + a) >>> 0;
  }
  return [a, b];
}

function isSum(bytes: Buffer, at: number, [a, b]: [number, number]): boolean {
  return bytes.readUInt32BE(at) === a && bytes.readUInt32BE(at + 4) === b;
}

/** The log's header, which changes at each restart of the log. */
function walGeneration(path: string): string {
  return readIfThere(`${path}-wal`, WAL_HEADER_BYTES).toString('hex');
}

function readIfThere(path: string, limit?: number): Buffer {
  try {
    if (limit === undefined) return readFileSync(path);
    const file = openSync(path, 'r');
    try {
      const bytes = Buffer.alloc(limit);
      return bytes.subarray(0, readSync(file, bytes, 0, limit, 0));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}
