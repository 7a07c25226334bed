/** Analysis of data files with DuckDB, independent of Temporal. */
import { open, stat } from 'node:fs/promises';
import path from 'node:path';
import { quotedString, type Json } from '@duckdb/node-api';
import type { Column, DatasetQuery } from '../../tools/analyze_dataset/index.js';
import { withDataset, type Dataset, type Reading, type ReadingOptions } from './dataset.js';
import { inBatches } from './profile.js';
import { compileQuery } from './query.js';
import { percentOf, type OnShare, type SessionFiles } from './session.js';
import type { DatasetFormat } from './sources.js';
import { columnsOf, rowsOf, shortType, textTable } from './values.js';

export { DatasetError } from './errors.js';
export { profileColumns } from './profile.js';

export interface Inspection {
  path: string;
  format: DatasetFormat;
  bytes: number;
  rowCount: number;
  columns: Column[];
  /** Argument for the other functions, so that they read the file in the same way. */
  reading: Reading;
  /** The columns in batches, each worth one call of `profileColumns`. */
  profileBatches: string[][];
  notes: string[];
}

export interface QueryResult {
  columns: Column[];
  /** At most `limit` rows and 512 KiB; `notes` says if rows were left out. */
  rows: Json[][];
  /** Rows of the whole result. */
  rowCount: number;
  table: string;
  notes: string[];
}

export interface ArtifactEstimate {
  /** Exact. */
  rowCount: number;
  /** Size of the Parquet file in bytes, extrapolated from a sample of the rows. */
  estimatedBytes: number;
}

/** Maximum size of an answer's rows, well below the size at which results have to be artifacts. */
const MAX_ROWS_BYTES = 512 * 1024;
/** Rows that are written to measure their compressed size. */
const SAMPLE_ROWS = 122_880;

/**
 * Describes the file. Reads all of its rows for the types of its columns, so it also finds lines that can't be read.
 *
 * @throws DatasetError not_found, not_allowed, unsupported_format, unreadable
 */
export function inspect(givenPath: string, options: ReadingOptions): Promise<Inspection> {
  const onLearned = percentOf(options.onProgress, `reading ${givenPath}`)(0, 100);
  return withDataset(givenPath, { ...options, onLearned }, async ({ file, reading }) => {
    const names = reading.columns.map(({ name }) => name);
    return {
      path: givenPath,
      format: file.format,
      bytes: file.bytes,
      rowCount: reading.rowCount,
      columns: reading.columns.map(({ name, type }) => ({ name, type: shortType(type) })),
      reading,
      profileBatches: inBatches(names, file.format === 'parquet' ? 4 : 32),
      notes: reading.notes,
    };
  });
}

/**
 * Runs the query and returns its first rows.
 *
 * @throws DatasetError
 */
export function runQuery(query: DatasetQuery, options: ReadingOptions): Promise<QueryResult> {
  const keepFileOrder = !query.order_by?.length && !query.group_by?.length && !query.aggregates?.length;
  const work = async ({ run, reading, from, orderBy, step }: Result): Promise<QueryResult> => {
    const reader = await run(`SELECT * FROM ${from}${orderBy} LIMIT ${query.limit}`, step(80, 90));
    const rowCount = Number((await run(`SELECT count(*) FROM ${from}`, step(90, 100))).value(0, 0));
    const all = rowsOf(reader);
    let left = MAX_ROWS_BYTES;
    // At least one row, whose values are bounded one by one.
    const end = all.findIndex(
      (row, at) => (left -= Buffer.byteLength(JSON.stringify(row)) + 1) < 0 && at > 0,
    );
    const rows = end === -1 ? all : all.slice(0, end);
    const cut = end === -1 ? [] : [`Only ${end} rows are shown: more would pass 512 KiB.`];
    const columns = columnsOf(reader);
    const names = columns.map(({ name }) => name);
    return {
      columns,
      rows,
      rowCount,
      table: textTable(names, rows, rowCount),
      notes: [...reading.notes, ...cut],
    };
  };
  return withResult(query, options, `querying ${query.path}`, work, { keepFileOrder });
}

/**
 * Estimates the size of the result as a Parquet file, without the query's limit.
 *
 * @throws DatasetError
 */
export function estimateArtifact(query: DatasetQuery, options: ReadingOptions): Promise<ArtifactEstimate> {
  const work = async ({ run, scratchFolder, from, step }: Result): Promise<ArtifactEstimate> => {
    const rowCount = Number((await run(`SELECT count(*) FROM ${from}`, step(80, 90))).value(0, 0));
    const sample = path.join(scratchFolder, 'sample.parquet');
    const rows = `SELECT * FROM ${from} LIMIT ${SAMPLE_ROWS}`;
    await run(`COPY (${rows}) TO ${quotedString(sample)} (FORMAT parquet)`, step(90, 100));
    const { size } = await stat(sample);
    return { rowCount, estimatedBytes: Math.round(size * Math.max(1, rowCount / SAMPLE_ROWS)) };
  };
  return withResult(query, options, `measuring the result of ${query.path}`, work);
}

/**
 * Writes the whole result, without the query's limit, and replaces an existing file. Rows of an ungrouped result come in no
 * particular order unless order_by gives one.
 *
 * @param targetPath comes from the worker, not from the caller: it isn't checked
 * @throws DatasetError
 */
export async function writeParquet(
  query: DatasetQuery,
  targetPath: string,
  options: ReadingOptions,
): Promise<{ path: string; rowCount: number; bytes: number }> {
  const target = path.resolve(targetPath);
  const to = `${quotedString(target)} (FORMAT parquet, USE_TMP_FILE false)`;
  const work = async ({ run, from, orderBy, step }: Result) =>
    Number((await run(`COPY (SELECT * FROM ${from}${orderBy}) TO ${to}`, step(80, 100))).value(0, 0));
  const message = `writing ${path.basename(target)}`;
  const rowCount = await withResult(query, options, message, work, { write: target });
  const file = await open(target, 'r+');
  await file.sync().finally(() => file.close());
  return { path: target, rowCount, bytes: (await stat(target)).size };
}

interface Result extends Dataset {
  /** Relation that the result is selected from. */
  from: string;
  /** ORDER BY clause, or empty. */
  orderBy: string;
  step: (from: number, to: number) => OnShare;
}

/** Computes a grouped result once, into a table that spills when it is large; another one is read from the file each time. */
function withResult<T>(
  query: DatasetQuery,
  options: ReadingOptions,
  message: string,
  work: (result: Result) => Promise<T>,
  files?: Omit<SessionFiles, 'read'>,
): Promise<T> {
  const prepare = async (dataset: Dataset) => {
    const { run, source } = dataset;
    const step = percentOf(options.onProgress, message);
    const schema = await run(`SELECT * FROM ${source} LIMIT 0`);
    const columns = schema.columnNames().map((name, index) => {
      const duckType = schema.columnType(index);
      return { name, type: String(duckType), duckType };
    });
    const { sql, orderBy, grouped } = compileQuery(query, source, columns);
    if (grouped) await run(`CREATE TEMP TABLE result AS ${sql}`, step(0, 80));
    return work({ ...dataset, from: grouped ? 'result' : `(${sql})`, orderBy, step });
  };
  return withDataset(query.path, { given: query, ...options }, prepare, files);
}
