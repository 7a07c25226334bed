import { quotedIdentifier } from '@duckdb/node-api';
import { refuseOtherCount } from './csv-plan.js';
import { withDataset } from './dataset.js';
import type { Reading, ReadingOptions } from './dataset.js';
import type { DatasetFormat } from './locate.js';
import { percentOf } from './progress.js';
import type { Column } from '../../tools/analyze_dataset.js';
import { shortType } from './values.js';

export interface Inspection {
  path: string;
  format: DatasetFormat;
  bytes: number;
  rowCount: number;
  columns: Column[];
  /** To be handed to the other functions, so that they see the same types at once. */
  reading: Reading;
  /** The columns in batches, each worth one call of `profileColumns`. */
  profileBatches: string[][];
  notes: string[];
}

/** A CSV or JSON file is read whole for every batch, a Parquet file only where the columns lie. */
const COLUMNS_PER_BATCH: Record<DatasetFormat, number> = { parquet: 4, csv: 32, json: 32 };

/**
 * What the file is. Reads a CSV or JSON file once from end to end, so it also finds values
 * that do not fit their column and lines that can't be read.
 * @throws DatasetError not_found, not_allowed, unsupported_format, unreadable
 */
export function inspect(path: string, options: ReadingOptions): Promise<Inspection> {
  return withDataset(path, options, async ({ file, columns, source, reading, notes, run, onProgress }) => {
    // Counting each column makes DuckDB convert every value; counting rows alone would skip that.
    const counted =
      file.format === 'parquet'
        ? 'count(*)'
        : ['count(*)', ...columns.map(({ name }) => `count(${quotedIdentifier(name)})`)].join(', ');
    const step = percentOf(onProgress, `reading ${path}`);
    const reader = await run(`SELECT ${counted} FROM ${source}`, undefined, step(0, 100));
    const rowCount = Number(reader.value(0, 0));
    if (reading.csv) refuseOtherCount(rowCount, reading.csv, file);
    return {
      path,
      format: file.format,
      bytes: file.bytes,
      rowCount,
      columns: columns.map(({ name, type }) => ({ name, type: shortType(type) })),
      reading,
      profileBatches: inBatches(
        columns.map(({ name }) => name),
        COLUMNS_PER_BATCH[file.format],
      ),
      notes,
    };
  });
}

export function inBatches<T>(items: readonly T[], size: number): T[][] {
  const batches: T[][] = [];
  for (let start = 0; start < items.length; start += size) batches.push(items.slice(start, start + size));
  return batches;
}
