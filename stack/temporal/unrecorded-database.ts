/** A database without its version file: `temporal.db` was copied alone, or the file is damaged. Its tables show which version made it. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf, StackError, type Say } from '../stack-error.js';
import { TEMPORAL_CLI_VERSION, TEMPORAL_SERVER_VERSION } from './binary.js';
import { onCopy, rowsOf } from './database-check.js';
import { databaseMadeBy, databasePath, type TemporalVersion } from './version.js';

/** Digest of the schema that {@link TEMPORAL_SERVER_VERSION} makes. SQLite databases of Temporal name no version. */
const SCHEMA = '14aaaaa048588b96';

/**
 * Version of the Temporal that made a database without a record of it; undefined if it has one, or there is no database.
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
