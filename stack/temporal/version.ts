/**
 * Version guard of the database: Temporal's dev server never migrates a schema, so only the version that made a database may open
 * it.
 */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { writeFileAtomically } from '../../platform/home/atomic-files.js';

export interface TemporalVersion {
  /** Version of the server in the CLI, such as `1.29.1`. */
  server: string;
  /** Version of the CLI, such as `1.5.1`; undefined if unknown. */
  cli?: string | undefined;
}

export function databasePath(home: string): string {
  return join(home, 'temporal.db');
}

export async function readTemporalVersion(path: string): Promise<TemporalVersion> {
  const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: 20_000 });
  const line = stdout.trim();
  const server = /Server (\d+\.\d+\.\d+)/.exec(line)?.[1];
  if (!server) throw new Error(`\`${path} --version\` names no server version: ${line}`);
  // A CLI that was built with Go calls itself 0.0.0-DEV, so its file's name counts: `temporal-1.5.1`.
  const said =
    /^temporal version (\d+\.\d+\.\d+)(?= )/.exec(line) ?? /^temporal-(\d+\.\d+\.\d+)$/.exec(basename(path));
  return { server, cli: said?.[1] };
}

/** Version that made this home's database; undefined without a database or without a record of it. */
export function databaseMadeBy(home: string): TemporalVersion | undefined {
  if (!existsSync(databasePath(home))) return undefined;
  try {
    const made = JSON.parse(readFileSync(versionFile(home), 'utf8')) as TemporalVersion;
    return typeof made.server === 'string' ? made : undefined;
  } catch {
    return undefined;
  }
}

/** Writes the version file of a database. */
export function markDatabase(home: string, version: TemporalVersion): void {
  writeFileAtomically(versionFile(home), `${JSON.stringify(version)}\n`);
}

function versionFile(home: string): string {
  return join(home, 'temporal.version');
}
