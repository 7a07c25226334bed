/** One locked DuckDB over the files of one dataset. */
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import type { DuckDBConnection, DuckDBResultReader } from '@duckdb/node-api';
import { DuckDBInstance, quotedString } from '@duckdb/node-api';
import type { DataFolders } from '../../platform/storage/data-folders.js';

export interface Progress {
  progress: number;
  total: number;
  message?: string;
}

export type OnProgress = (progress: Progress) => void;

export interface DatasetOptions {
  /** Called about four times a second while a query runs; never goes back within a call. */
  onProgress: OnProgress;
  dataFolders: DataFolders;
  /** Folder for spilled data; made when missing. Every call cleans up after itself. */
  tempFolder: string;
}

export interface SessionFiles {
  /** The files that may be read. */
  read: string[];
  /** The one file that may be written, besides spilled data. */
  write?: string;
  /** Keeps the file's order of rows, which needs more memory for large results. */
  keepFileOrder?: boolean;
}

/** Gets the finished share of a statement, 0 to 1, if DuckDB knows it. */
export type OnShare = (share: number) => void;

export interface Session {
  /** Paths of the files for queries, in their order; without pattern characters. */
  readPaths: string[];
  /** The session's folder for files that it may read and write. */
  scratchFolder: string;
  /** Runs one statement. */
  run: (sql: string, onShare?: OnShare) => Promise<DuckDBResultReader>;
}

export type Run = Session['run'];

/** Memory that DuckDB may use before it spills. */
const MEMORY_LIMIT = '512MB';
const THREADS = '2';
const PROGRESS_INTERVAL_MS = 250;

/**
 * Opens an engine in memory that can touch nothing but the given files: no network, no extensions, no other path, and no way to
 * change that by a later statement. The lock stands behind the quoting of every query, not instead of it.
 */
export async function withSession<T>(
  files: SessionFiles,
  options: DatasetOptions,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  await mkdir(options.tempFolder, { recursive: true });
  const scratchFolder = await mkdtemp(path.join(path.resolve(options.tempFolder), 'session-'));
  let instance: DuckDBInstance | undefined;
  let connection: DuckDBConnection | undefined;
  try {
    const readPaths: string[] = [];
    for (const [index, file] of files.read.entries())
      readPaths.push(await pathWithoutPattern(file, scratchFolder, index));
    instance = await DuckDBInstance.create(':memory:', {
      threads: THREADS,
      memory_limit: MEMORY_LIMIT,
      temp_directory: path.join(scratchFolder, 'spill'),
      preserve_insertion_order: String(files.keepFileOrder ?? false),
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
      allow_community_extensions: 'false',
    });
    const open = (connection = await instance.connect());
    await lock(open, [...readPaths, ...(files.write === undefined ? [] : [files.write])], scratchFolder);
    const run: Run = (sql, onShare) => runStatement(open, sql, onShare);
    return await work({ readPaths, scratchFolder, run });
  } finally {
    connection?.closeSync();
    instance?.closeSync();
    await rm(scratchFolder, { recursive: true, force: true });
  }
}

/** DuckDB expands * ? [ in any path, and has no escape for them: a symbolic link avoids such names. */
async function pathWithoutPattern(file: string, scratchFolder: string, index: number): Promise<string> {
  if (!/[*?[\]{}]/.test(file)) return file;
  const link = path.join(scratchFolder, `input-${index}${/(\.[a-z]+){1,2}$/i.exec(file)?.[0] ?? ''}`);
  await symlink(file, link);
  return link;
}

async function lock(connection: DuckDBConnection, paths: string[], scratchFolder: string): Promise<void> {
  for (const setting of [
    `TimeZone = 'UTC'`,
    'enable_progress_bar = true',
    'enable_progress_bar_print = false',
    'progress_bar_time = 0',
    `allowed_paths = [${paths.map(quotedString).join(', ')}]`,
    `allowed_directories = [${quotedString(scratchFolder + path.sep)}]`,
    'enable_external_access = false',
    'lock_configuration = true',
  ])
    await connection.run(`SET ${setting}`);
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
