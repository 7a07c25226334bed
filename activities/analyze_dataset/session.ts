/** One locked DuckDB over the files of one dataset. */
import { symlink } from 'node:fs/promises';
import path from 'node:path';
import { DuckDBInstance, quotedString } from '@duckdb/node-api';
import type { DuckDBConnection, DuckDBResultReader } from '@duckdb/node-api';

/** Gets the finished share of a statement, 0 to 1, if DuckDB knows it. */
export type OnShare = (share: number) => void;

/** Runs one statement. */
export type Run = (sql: string, onShare?: OnShare) => Promise<DuckDBResultReader>;

export interface Session {
  /** Paths of the files for queries, in their order; without pattern characters. */
  readPaths: string[];
  run: Run;
}

export interface SessionOptions {
  /** Folder for spilled data, copies and the result, of one call alone: queries may read and write it. */
  tempFolder: string;
  /** Keeps the file's order of rows, which needs more memory for large results. */
  keepsFileOrder?: boolean | undefined;
}

/** Memory that DuckDB may use before it spills. */
const MEMORY_LIMIT = '512MB';
const THREADS = '2';
const PROGRESS_INTERVAL_MS = 250;

/**
 * Opens an engine in memory that can touch nothing but the given files and its folder: no network, no extensions, no other path,
 * and no way to change that by a later statement. The lock stands behind the quoting of every query, not instead of it.
 */
export async function withSession<T>(
  files: readonly string[],
  { tempFolder, keepsFileOrder = false }: SessionOptions,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const readPaths = await Promise.all(files.map((file, at) => pathWithoutPattern(file, tempFolder, at)));
  const instance = await DuckDBInstance.create(':memory:', {
    threads: THREADS,
    memory_limit: MEMORY_LIMIT,
    temp_directory: path.join(tempFolder, 'spill'),
    preserve_insertion_order: String(keepsFileOrder),
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
  });
  const connection = await instance.connect();
  try {
    for (const setting of [
      `TimeZone = 'UTC'`,
      'enable_progress_bar = true',
      'enable_progress_bar_print = false',
      'progress_bar_time = 0',
      `allowed_paths = [${readPaths.map(quotedString).join(', ')}]`,
      `allowed_directories = [${quotedString(tempFolder + path.sep)}]`,
      'enable_external_access = false',
      'lock_configuration = true',
    ])
      await connection.run(`SET ${setting}`);
    return await work({ readPaths, run: (sql, onShare) => runStatement(connection, sql, onShare) });
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/** DuckDB expands * ? [ in any path, and has no escape for them: a symbolic link avoids such names. */
async function pathWithoutPattern(file: string, tempFolder: string, index: number): Promise<string> {
  if (!/[*?[\]{}]/.test(file)) return file;
  const link = path.join(tempFolder, `input-${index}${/(\.[a-z]+){1,2}$/i.exec(file)?.[0] ?? ''}`);
  await symlink(file, link);
  return link;
}

async function runStatement(
  connection: DuckDBConnection,
  sql: string,
  onShare?: OnShare,
): Promise<DuckDBResultReader> {
  const look = () => {
    const { percentage } = connection.progress;
    if (percentage > 0) onShare?.(Math.min(percentage / 100, 1));
  };
  const timer = onShare && setInterval(look, PROGRESS_INTERVAL_MS);
  try {
    return await connection.runAndReadAll(sql);
  } finally {
    clearInterval(timer);
  }
}
