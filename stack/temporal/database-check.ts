/** Checks the embedded Temporal's database on a copy: its integrity, and which version made it. */
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { messageOf, StackError, type Say } from '../stack-error.js';
import { TEMPORAL_CLI_VERSION, TEMPORAL_SERVER_VERSION } from './binary.js';
import { copyDatabase } from './database-snapshot.js';
import { databaseMadeBy, databasePath, type TemporalVersion } from './version.js';

const PROBLEMS = 5;

export interface DatabaseCheck {
  path: string;
  /** Size of the database with its write-ahead log merged. */
  bytes: number;
  /** SQLite's messages; empty for an intact database. */
  problems: string[];
}

/**
 * Runs `PRAGMA quick_check` on a copy of a home's database, if there is one, even while a stack runs.
 *
 * @throws DamagedDatabase when the file isn't a database, BusyDatabase when it can't be copied, else the system's error
 */
export async function checkDatabaseFile(home: string): Promise<DatabaseCheck | undefined> {
  const path = databasePath(home);
  if (!existsSync(path)) return undefined;
  return onCopy(path, async (copy) => {
    return { path, bytes: statSync(copy).size, problems: await quickCheck(copy) };
  });
}

/** Reads a copy of a database, because SQLite would recover the original. */
async function onCopy<T>(path: string, read: (copy: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-database-'));
  try {
    const copy = join(folder, 'temporal.db');
    await copyDatabase(path, copy);
    return await read(copy);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs SQLite's quick check. */
export async function quickCheck(path: string): Promise<string[]> {
  try {
    const rows = await rowsOf(path, `PRAGMA quick_check(${PROBLEMS})`);
    const said = rows.map(({ quick_check }) => String(quick_check));
    return said.join() === 'ok' ? [] : said;
  } catch (error) {
    return [(error as Error).message];
  }
}

/** Reads a database without a write-ahead log. */
async function rowsOf(path: string, sql: string): Promise<Record<string, unknown>[]> {
  const { default: sqlite } = await import('node-sqlite3-wasm');
  const database = new sqlite.Database(path, { readOnly: true });
  try {
    return database.all(sql);
  } finally {
    database.close();
  }
}

/** Digest of the schema that {@link TEMPORAL_SERVER_VERSION} makes. SQLite databases of Temporal name no version. */
const SCHEMA = '14aaaaa048588b96';

/**
 * Version of the Temporal that made a database without its version file, by its tables: `temporal.db` was copied alone, or the file is
 * damaged; undefined if it has one, or there is no database.
 *
 * @throws StackError if another server made it, or it can't be read
 */
export async function recoverRecord(home: string, say: Say): Promise<TemporalVersion | undefined> {
  const path = databasePath(home);
  if (!existsSync(path) || databaseMadeBy(home)) return undefined;
  if ((await schemaOf(path)) !== SCHEMA) throw new StackError(unknownServer(path));
  say(
    `${home} has no usable temporal.version; by its tables, the database was made by Temporal server ${TEMPORAL_SERVER_VERSION}.`,
  );
  return { server: TEMPORAL_SERVER_VERSION, cli: TEMPORAL_CLI_VERSION };
}

function unknownServer(path: string): string {
  return (
    `the database ${path} has no record of the Temporal that made it, and by its tables that isn't server ${TEMPORAL_SERVER_VERSION}. ` +
    `Nothing was changed. Write both versions of that Temporal into ${join(dirname(path), 'temporal.version')}, such as ` +
    `{"server":"1.31.2","cli":"1.6.2"}, or move temporal.db* out of there to start with an empty database (its operations are lost).`
  );
}

async function schemaOf(path: string): Promise<string> {
  const sql = 'SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name';
  const rows = await onCopy(path, (copy) => rowsOf(copy, sql)).catch((error: unknown) => {
    throw new StackError(`the database ${path} can't be read: ${messageOf(error)}. Nothing was changed`);
  });
  return createHash('sha256').update(JSON.stringify(rows)).digest('hex').slice(0, 16);
}
