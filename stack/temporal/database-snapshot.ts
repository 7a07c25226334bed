/** Copies an SQLite database without a lock on it, recovery or checkpoint, even while a server writes to it. */
import { closeSync, copyFileSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import { undefinedIfMissing } from '../../platform/home/atomic-files.js';

const WAL_HEADER_BYTES = 32;
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

/**
 * Copies a database and its write-ahead log to `target`, as one database without a log. Until it restarts, the log holds every
 * changed page. Copying it after the file is consistent, even if a checkpoint moves pages meanwhile.
 *
 * @throws DamagedDatabase, BusyDatabase, or the system's error when the file can't be read
 */
export async function copyDatabase(path: string, target: string): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const before = walGeneration(path);
    copyFileSync(path, target);
    rmSync(`${target}-wal`, { force: true });
    try {
      copyFileSync(`${path}-wal`, `${target}-wal`);
    } catch (error) {
      undefinedIfMissing(error);
    }
    if (walGeneration(path) === before) return mergeLog(target);
  }
  throw new BusyDatabase('the database is written too fast to be copied');
}

/** Has SQLite write the log's committed pages into the file. */
async function mergeLog(path: string): Promise<void> {
  // SQLite would make a new database of it.
  if (statSync(path).size === 0) throw new DamagedDatabase('expected an SQLite database; got an empty file');
  const { default: sqlite } = await import('node-sqlite3-wasm');
  const database = new sqlite.Database(path);
  try {
    // Without shared memory, SQLite reads a log in this mode alone.
    database.get('PRAGMA locking_mode = EXCLUSIVE');
    database.get('PRAGMA journal_mode = DELETE');
  } catch (error) {
    const { message } = error as Error;
    if (message.includes('disk is full')) throw Object.assign(new Error(message), { code: 'ENOSPC' });
    // SQLite for Node.js says this of a full disk too; it is about the copy.
    throw message.includes('I/O error') ? error : new DamagedDatabase(message);
  } finally {
    database.close();
  }
}

/** The log's header, which changes at each restart of the log; undefined without a log. */
function walGeneration(path: string): string | undefined {
  let file: number;
  try {
    file = openSync(`${path}-wal`, 'r');
  } catch (error) {
    return undefinedIfMissing(error);
  }
  try {
    const bytes = Buffer.alloc(WAL_HEADER_BYTES);
    return bytes.toString('hex', 0, readSync(file, bytes, 0, WAL_HEADER_BYTES, 0));
  } finally {
    closeSync(file);
  }
}
