import type { Json } from '@duckdb/node-api';
import { readingOptions, withDataset } from './dataset.js';
import type { ReadingOptions } from './dataset.js';
import type { Column, DatasetQuery } from '../../tools/analyze_dataset/index.js';
import { compileWithinMemory } from './medians.js';
import { percentOf } from './progress.js';
import { textTable } from './text-table.js';
import { columnsOf, rowsOf } from './values.js';

export interface QueryResult {
  columns: Column[];
  /** At most `limit` rows and 512 KiB; `notes` says if rows were left out. */
  rows: Json[][];
  /** Rows of the whole result. */
  rowCount: number;
  table: string;
  notes: string[];
}

/** Maximum size of an answer's rows, well below the size at which results have to be artifacts. */
const MAX_ROWS_BYTES = 512 * 1024;

/**
 * Runs the query and returns its first rows. A grouped result is computed once, into a table
 * of the session that spills when it is large; an ungrouped one stays in the file and only
 * its first rows are ever held.
 * @throws DatasetError
 */
export function runQuery(query: DatasetQuery, options: ReadingOptions): Promise<QueryResult> {
  const keepFileOrder = !query.order_by?.length && !query.group_by?.length && !query.aggregates?.length;
  return withDataset(
    query.path,
    readingOptions(query, options),
    async (dataset) => {
      const { sql, values, orderBy, grouped } = await compileWithinMemory(query, dataset);
      const step = percentOf(dataset.onProgress, `querying ${query.path}`);
      let from = `(${sql})`;
      let bound: string[] | undefined = values;
      if (grouped) {
        await dataset.run(`CREATE TEMP TABLE result AS ${sql}`, values, step(0, 90));
        from = 'result';
        bound = undefined;
      }
      const first = `SELECT * FROM ${from}${orderBy} LIMIT ${query.limit}`;
      const reader = await dataset.run(first, bound, grouped ? step(90, 95) : step(0, 50));
      const counted = await dataset.run(
        `SELECT count(*) FROM ${from}`,
        bound,
        grouped ? step(95, 100) : step(50, 100),
      );
      const columns = columnsOf(reader);
      const rowCount = Number(counted.value(0, 0));
      const all = rowsOf(reader);
      const rows = withinBytes(all, MAX_ROWS_BYTES);
      const notes = [...dataset.notes];
      if (rows.length < all.length)
        notes.push(`Only ${rows.length} rows are shown: more would pass 512 KiB.`);
      const names = columns.map(({ name }) => name);
      return { columns, rows, rowCount, table: textTable(names, rows, rowCount), notes };
    },
    { keepFileOrder },
  );
}

/** The first rows that fit; at least one, whose values are bounded one by one. */
function withinBytes(rows: Json[][], bytes: number): Json[][] {
  let left = bytes;
  const end = rows.findIndex((row, index) => {
    left -= Buffer.byteLength(JSON.stringify(row)) + 1;
    return left < 0 && index > 0;
  });
  return end === -1 ? rows : rows.slice(0, end);
}
