/** Is the embedded Temporal's database intact? Found out on a copy, so that nothing about it changes. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyDatabase } from './database-snapshot.js';
import { databasePath } from './temporal-version.js';

/** Most problems that SQLite lists. */
const PROBLEMS = 5;

export interface DatabaseCheck {
  path: string;
  /** Size of the database with what is in its log, in bytes. */
  bytes: number;
  /** SQLite's words for what is wrong; empty when nothing is. */
  problems: string[];
}

/**
 * Runs `PRAGMA quick_check` on a copy of a home's database, also while a stack runs.
 *
 * @returns undefined when the home has no database
 * @throws DamagedDatabase when it is none, BusyDatabase when it can't be copied, the system's error when it can't be read
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

async function quickCheck(path: string): Promise<string[]> {
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
