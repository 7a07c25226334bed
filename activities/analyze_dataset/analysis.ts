/** Analysis of data files with DuckDB, independent of Temporal. */
import { open } from 'node:fs/promises';
import path from 'node:path';
import { quotedIdentifier, quotedString, type Json } from '@duckdb/node-api';
import type { Column, DatasetQuery } from '../../tools/analyze_dataset/index.js';
import { withDataset, type Dataset, type Reading, type ReadingOptions } from './dataset.js';
import { compileQuery } from './query.js';
import type { OnShare } from './session.js';
import type { DatasetFormat } from './sources.js';
import { columnsOf, rowsOf, shortType } from './values.js';

export { profileColumns } from './profile.js';

export interface Inspection {
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
  notes: string[];
}

/** Maximum size of an answer's rows, well below the size at which results have to be artifacts. */
const MAX_ROWS_BYTES = 512 * 1024;

/**
 * Describes the file. Reads all of its rows for the types of its columns, so it also finds lines that can't be read.
 *
 * @throws DatasetError not_found, not_allowed, unsupported_format, unreadable
 */
export function inspect(givenPath: string, options: ReadingOptions): Promise<Inspection> {
  return withDataset(givenPath, options, async ({ bytes, reading }) => {
    const { format, rowCount, columns, notes } = reading;
    const names = columns.map(({ name }) => name);
    // CSV and JSON are parsed whole for each batch, Parquet only where its columns lie.
    const size = format === 'parquet' ? 4 : 32;
    const profileBatches: string[][] = [];
    while (names.length > 0) profileBatches.push(names.splice(0, size));
    const shown = columns.map(({ name, type }) => ({ name, type: shortType(type) }));
    return { format, bytes, rowCount, columns: shown, reading, profileBatches, notes };
  });
}

/** Runs the query and returns its first rows. */
export function runQuery(query: DatasetQuery, options: ReadingOptions): Promise<QueryResult> {
  const keepsFileOrder = ![query.order_by, query.group_by, query.aggregates].some((list) => list?.length);
  const work = async ({ run, reading, from, orderBy, step }: Result): Promise<QueryResult> => {
    const reader = await run(`SELECT * FROM ${from}${orderBy} LIMIT ${query.limit}`, step(0.8, 0.9));
    const rowCount = Number((await run(`SELECT count(*) FROM ${from}`, step(0.9, 1))).value(0, 0));
    const all = rowsOf(reader);
    let left = MAX_ROWS_BYTES;
    // At least one row, whose values are bounded one by one.
    const end = all.findIndex(
      (row, at) => (left -= Buffer.byteLength(JSON.stringify(row)) + 1) < 0 && at > 0,
    );
    const rows = end === -1 ? all : all.slice(0, end);
    const cut = end === -1 ? [] : [`Only ${end} rows are shown: more would pass 512 KiB.`];
    return { columns: columnsOf(reader), rows, rowCount, notes: [...reading.notes, ...cut] };
  };
  return withResult(query, { ...options, keepsFileOrder }, `querying ${query.path}`, work);
}

/**
 * Writes the whole result, without the query's limit, as `result.parquet` in the temporary folder. Rows of an ungrouped result come
 * in no particular order unless order_by gives one.
 */
export async function writeParquet(
  query: DatasetQuery,
  options: ReadingOptions,
): Promise<{ file: string; rowCount: number }> {
  const file = path.join(options.tempFolder, 'result.parquet');
  const to = `${quotedString(file)} (FORMAT parquet, USE_TMP_FILE false)`;
  const work = async ({ run, from, orderBy, step }: Result) =>
    Number((await run(`COPY (SELECT * FROM ${from}${orderBy}) TO ${to}`, step(0.8, 1))).value(0, 0));
  const rowCount = await withResult(query, options, 'writing result.parquet', work);
  // The storage only renames it.
  const handle = await open(file, 'r+');
  await handle.sync().finally(() => handle.close());
  return { file, rowCount };
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
): Promise<T> {
  const step = (from: number, to: number) => (share: number) =>
    options.onProgress(from + share * (to - from), message);
  const prepare = async (dataset: Dataset) => {
    const { run, source } = dataset;
    const schema = await run(`SELECT * FROM ${source} LIMIT 0`);
    const columns = schema.columnNames().map((name, index) => {
      return { name, type: schema.columnType(index), sql: quotedIdentifier(name) };
    });
    const { sql, orderBy, isGrouped } = compileQuery(query, source, columns);
    if (isGrouped) await run(`CREATE TEMP TABLE result AS ${sql}`, step(0, 0.8));
    return work({ ...dataset, from: isGrouped ? 'result' : `(${sql})`, orderBy, step });
  };
  return withDataset(query.path, { given: query, ...options }, prepare);
}
