/** Checks the integrity of the embedded Temporal's database on a copy. */
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyDatabase } from './database-snapshot.js';
import { databasePath } from './version.js';

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
export async function onCopy<T>(path: string, read: (copy: string) => Promise<T>): Promise<T> {
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
export async function rowsOf(path: string, sql: string): Promise<Record<string, unknown>[]> {
  const { default: sqlite } = await import('node-sqlite3-wasm');
  const database = new sqlite.Database(path, { readOnly: true });
  try {
    return database.all(sql) as Record<string, unknown>[];
  } finally {
    database.close();
  }
}
