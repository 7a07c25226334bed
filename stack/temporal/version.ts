/**
 * Version guard of the database: Temporal's dev server never migrates a schema, so only the version that made a database may open
 * it.
 */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface TemporalVersion {
  /** Version of the server in the CLI, such as `1.29.1`. */
  server: string;
  /** Output line of `temporal --version`. */
  line: string;
}

export function databasePath(home: string): string {
  return join(home, 'temporal.db');
}

export async function readTemporalVersion(path: string): Promise<TemporalVersion> {
  const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: 20_000 });
  const line = stdout.trim();
  const server = /Server (\d+\.\d+\.\d+)/.exec(line)?.[1];
  if (!server) throw new Error(`\`${path} --version\` names no server version: ${line}`);
  return { server, line };
}

/** Server version that made this home's database; undefined without a database. */
export function databaseMadeBy(home: string): string | undefined {
  if (!existsSync(databasePath(home))) return undefined;
  try {
    return (JSON.parse(readFileSync(versionFile(home), 'utf8')) as TemporalVersion).server;
  } catch {
    return undefined;
  }
}

/** Writes the version file for a database about to be created. */
export function markDatabase(home: string, version: TemporalVersion): void {
  writeFileSync(versionFile(home), `${JSON.stringify({ ...version, fairness: true })}\n`);
}

/** Whether this database has fair task queues. Servers before 1.30 can't convert between the two forms. */
export function isDatabaseFair(home: string): boolean {
  try {
    return (JSON.parse(readFileSync(versionFile(home), 'utf8')) as { fairness?: boolean }).fairness === true;
  } catch {
    return false;
  }
}

function versionFile(home: string): string {
  return join(home, 'temporal.version');
}
