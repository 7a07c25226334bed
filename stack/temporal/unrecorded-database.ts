/** A database without its version file: `temporal.db` was copied alone, or the file is damaged. Its tables show which version made it. */
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { messageOf, StackError, type Say } from '../stack-error.js';
import { TEMPORAL_CLI_VERSION, TEMPORAL_SERVER_VERSION } from './binary.js';
import { copyDatabase } from './database-snapshot.js';
import { databaseMadeBy, databasePath, type TemporalVersion } from './version.js';

/** Digest of the schema that {@link TEMPORAL_SERVER_VERSION} makes. SQLite databases of Temporal name no version. */
const SCHEMA = '14aaaaa048588b96';

export interface RecoveredRecord {
  version: TemporalVersion;
  /** Whether it has fair task queues. */
  isFair: boolean;
}

/**
 * The record of a database that has none; undefined if it has one, or there is no database.
 *
 * @throws StackError if another server made it, or it can't be read
 */
export async function recoverRecord(home: string, say: Say): Promise<RecoveredRecord | undefined> {
  const path = databasePath(home);
  if (!existsSync(path) || databaseMadeBy(home)) return undefined;
  const { schema, isFair } = await readTables(path);
  if (schema !== SCHEMA) throw new StackError(unknownServer(path));
  say(
    `${home} has no usable temporal.version; by its tables, the database was made by Temporal server ${TEMPORAL_SERVER_VERSION}.`,
  );
  return {
    version: { server: TEMPORAL_SERVER_VERSION, cli: TEMPORAL_CLI_VERSION, line: '' },
    isFair,
  };
}

function unknownServer(path: string): string {
  return (
    `the database ${path} has no record of the Temporal that made it, and by its tables that isn't server ${TEMPORAL_SERVER_VERSION}. ` +
    `Nothing was changed. Write both versions of that Temporal into ${join(dirname(path), 'temporal.version')}, such as ` +
    `{"server":"1.31.2","cli":"1.6.2"}, or move temporal.db* out of there to start with an empty database (its operations are lost).`
  );
}

/** Reads a copy, because SQLite would recover the original. */
async function readTables(path: string): Promise<{ schema: string; isFair: boolean }> {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-tables-'));
  try {
    const copy = join(folder, 'temporal.db');
    copyDatabase(path, copy);
    const { default: sqlite } = await import('node-sqlite3-wasm');
    const database = new sqlite.Database(copy, { readOnly: true });
    try {
      const rows = database.all('SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name');
      const schema = createHash('sha256').update(JSON.stringify(rows)).digest('hex').slice(0, 16);
      return { schema, isFair: schema === SCHEMA && hasFairQueues(database) };
    } finally {
      database.close();
    }
  } catch (error) {
    throw new StackError(`the database ${path} can't be read: ${messageOf(error)}. Nothing was changed`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Fair task queues are in tables of their own. */
function hasFairQueues(database: { all(sql: string): unknown[] }): boolean {
  return database.all('SELECT 1 FROM task_queues_v2 LIMIT 1').length > 0;
}
