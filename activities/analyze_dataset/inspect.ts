import { withDataset } from './dataset.js';
import type { Reading, ReadingOptions } from './dataset.js';
import type { DatasetFormat } from './locate.js';
import { monotonic, percentOf } from './progress.js';
import type { Column } from '../../tools/analyze_dataset/index.js';
import { shortType } from './values.js';

export interface Inspection {
  path: string;
  format: DatasetFormat;
  bytes: number;
  rowCount: number;
  columns: Column[];
  /** Argument for the other functions, so that they use the same types. */
  reading: Reading;
  /** The columns in batches, each worth one call of `profileColumns`. */
  profileBatches: string[][];
  notes: string[];
}

/** A CSV or JSON file is read whole for every batch, a Parquet file only where the columns lie. */
const COLUMNS_PER_BATCH: Record<DatasetFormat, number> = { parquet: 4, csv: 32, json: 32 };

/**
 * Describes the file. Reads all of its rows for the types of its columns, so it also finds lines that can't be read.
 * @throws DatasetError not_found, not_allowed, unsupported_format, unreadable
 */
export function inspect(path: string, options: ReadingOptions): Promise<Inspection> {
  const onProgress = monotonic(options.onProgress.bind(options));
  const onLearned = percentOf(onProgress, `reading ${path}`)(0, 100);
  return withDataset(path, { ...options, onLearned }, ({ file, columns, reading, notes }) =>
    Promise.resolve({
      path,
      format: file.format,
      bytes: file.bytes,
      rowCount: reading.learned.rowCount,
      columns: columns.map(({ name, type }) => ({ name, type: shortType(type) })),
      reading,
      profileBatches: inBatches(
        columns.map(({ name }) => name),
        COLUMNS_PER_BATCH[file.format],
      ),
      notes,
    }),
  );
}

export function inBatches<T>(items: readonly T[], size: number): T[][] {
  const batches: T[][] = [];
  for (let start = 0; start < items.length; start += size) batches.push(items.slice(start, start + size));
  return batches;
}
