import { mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { DuckDBInstance, quotedString } from '@duckdb/node-api';
import type { DuckDBConnection, DuckDBResultReader } from '@duckdb/node-api';
import { claimScratch, releaseScratch, sweepLeftovers } from './leftovers.js';
import type { Progress } from './progress.js';

export interface DatasetOptions {
  /** Interrupts the running query; the call then rejects with the signal's reason. */
  signal: AbortSignal;
  /** Called about four times a second while a query runs; never goes back within a call. */
  onProgress: (progress: Progress) => void;
  allowedFolders: string[];
  /** Memory that DuckDB may use before it spills, in megabytes. Default: 512. */
  memoryLimitMb?: number;
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

/** One locked engine over the files of one dataset. */
export interface Session {
  /** Paths of the files for queries, in their order; without pattern characters. */
  readPaths: string[];
  memoryLimitMb: number;
  /** The session's folder for small files that it may write. */
  scratchFolder: string;
  /** Runs one statement. `onShare` gets the finished share, 0 to 1, if DuckDB knows it. */
  run: (sql: string, values?: string[], onShare?: (share: number) => void) => Promise<DuckDBResultReader>;
}

export type Run = Session['run'];

const SCRATCH_PREFIX = 'dataset';
const DEFAULT_MEMORY_LIMIT_MB = 512;
const THREADS = 2;
const PROGRESS_INTERVAL_MS = 250;
/** Maximum wait of an aborting caller, in milliseconds: DuckDB can't be interrupted while it detects types. */
const INTERRUPT_GRACE_MS = 1000;

/**
 * Opens an engine in memory that can touch nothing but the given files: no network, no
 * extensions, no other path, and no way to change that by a later statement. The lock
 * stands behind the quoting and binding of every query, not instead of it.
 */
export async function withSession<T>(
  files: SessionFiles,
  options: DatasetOptions,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  options.signal.throwIfAborted();
  await mkdir(options.tempFolder, { recursive: true });
  await sweepLeftovers(options.tempFolder, SCRATCH_PREFIX);
  const scratchFolder = claimScratch(path.resolve(options.tempFolder), SCRATCH_PREFIX);
  const memoryLimitMb = options.memoryLimitMb ?? DEFAULT_MEMORY_LIMIT_MB;
  const statements = new Set<Promise<unknown>>();
  let instance: DuckDBInstance | undefined;
  let connection: DuckDBConnection | undefined;
  const close = async () => {
    await Promise.allSettled(statements);
    connection?.closeSync();
    instance?.closeSync();
    await releaseScratch(scratchFolder);
  };
  try {
    await mkdir(scratchFolder);
    const readPaths: string[] = [];
    for (const [index, file] of files.read.entries())
      readPaths.push(await pathWithoutPattern(file, scratchFolder, index));
    instance = await DuckDBInstance.create(':memory:', {
      threads: String(THREADS),
      memory_limit: `${memoryLimitMb}MB`,
      temp_directory: path.join(scratchFolder, 'spill'),
      preserve_insertion_order: String(files.keepFileOrder ?? false),
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
      allow_community_extensions: 'false',
    });
    connection = await instance.connect();
    await lock(
      connection,
      [...readPaths, ...(files.write === undefined ? [] : [files.write])],
      scratchFolder,
    );
    const open = connection;
    return await work({
      readPaths,
      memoryLimitMb,
      scratchFolder,
      run: (sql, values, onShare) => runStatement(open, statements, options.signal, sql, values, onShare),
    });
  } finally {
    // After an abort DuckDB may still be busy for seconds: cleanup isn't awaited then.
    const closed = close();
    await (options.signal.aborted ? Promise.race([closed, afterMs(INTERRUPT_GRACE_MS)]) : closed);
  }
}

/** DuckDB expands * ? [ in any path, and has no escape for them: a symbolic link avoids such names. */
async function pathWithoutPattern(file: string, scratchFolder: string, index: number): Promise<string> {
  if (!/[*?[\]{}]/.test(file)) return file;
  const ending = /(\.[a-z]+){1,2}$/i.exec(file)?.[0] ?? '';
  const link = path.join(scratchFolder, `input-${index}${ending}`);
  await symlink(file, link);
  return link;
}

async function lock(connection: DuckDBConnection, paths: string[], scratchFolder: string): Promise<void> {
  await connection.run(`SET TimeZone = 'UTC'`);
  await connection.run('SET enable_progress_bar = true');
  await connection.run('SET enable_progress_bar_print = false');
  await connection.run('SET progress_bar_time = 0');
  await connection.run(`SET allowed_paths = [${paths.map(quotedString).join(', ')}]`);
  await connection.run(`SET allowed_directories = [${quotedString(scratchFolder + path.sep)}]`);
  await connection.run('SET enable_external_access = false');
  await connection.run('SET lock_configuration = true');
}

async function runStatement(
  connection: DuckDBConnection,
  statements: Set<Promise<unknown>>,
  signal: AbortSignal,
  sql: string,
  values: string[] | undefined,
  onShare: ((share: number) => void) | undefined,
): Promise<DuckDBResultReader> {
  signal.throwIfAborted();
  let timer: NodeJS.Timeout | undefined;
  let interrupt: (() => void) | undefined;
  const statement = connection.runAndReadAll(sql, values).finally(() => {
    clearInterval(timer);
    statements.delete(statement);
  });
  statements.add(statement);
  if (onShare) {
    timer = setInterval(() => {
      const percentage = connection.progress.percentage;
      if (percentage > 0) onShare(Math.min(percentage / 100, 1));
    }, PROGRESS_INTERVAL_MS);
  }
  const aborted = new Promise<never>((_, reject) => {
    interrupt = () => {
      if (!statements.has(statement)) return;
      // A statement that is being prepared ignores an interrupt, so the interrupt is repeated.
      clearInterval(timer);
      connection.interrupt();
      timer = setInterval(() => connection.interrupt(), 20);
      void Promise.race([statement.catch(() => undefined), afterMs(INTERRUPT_GRACE_MS)]).then(() =>
        reject(signal.reason as Error),
      );
    };
    signal.addEventListener('abort', interrupt, { once: true });
  });
  try {
    const reader = await Promise.race([statement, aborted]);
    signal.throwIfAborted();
    return reader;
  } catch (thrown) {
    statement.catch(() => undefined);
    throw signal.aborted ? signal.reason : thrown;
  } finally {
    if (interrupt) signal.removeEventListener('abort', interrupt);
  }
}

function afterMs(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
}
