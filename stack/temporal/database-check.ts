/** Checks the integrity of the embedded Temporal's database on a copy. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyDatabase } from './database-snapshot.js';
import { databasePath } from './version.js';

const PROBLEMS = 5;

export interface DatabaseCheck {
  path: string;
  /** Size of the database and its write-ahead log. */
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
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-check-'));
  try {
    const copy = join(folder, 'temporal.db');
    const { pages, pageBytes } = copyDatabase(path, copy);
    return { path, bytes: pages * pageBytes, problems: await quickCheck(copy) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs SQLite's quick check, read-only. */
export async function quickCheck(path: string): Promise<string[]> {
  const { default: sqlite } = await import('node-sqlite3-wasm');
  const database = new sqlite.Database(path, { readOnly: true });
  try {
    const rows = database.all(`PRAGMA quick_check(${PROBLEMS})`) as { quick_check: string }[];
    const said = rows.map(({ quick_check }) => quick_check);
    return said.join() === 'ok' ? [] : said;
  } catch (error) {
    return [(error as Error).message];
  } finally {
    database.close();
  }
}
