import { open, stat } from 'node:fs/promises';
import path from 'node:path';
import { quotedIdentifier, quotedString } from '@duckdb/node-api';
import { describe } from './column-reading.js';
import { readingOptions, withDataset } from './dataset.js';
import type { Dataset, ReadingOptions } from './dataset.js';
import { compileWithinMemory } from './medians.js';
import { percentOf } from './progress.js';
import type { DatasetQuery } from '../../tools/analyze_dataset/index.js';

export interface ArtifactEstimate {
  /** Exact. */
  rowCount: number;
  /** Size of the Parquet file in bytes, extrapolated from a sample of the rows. */
  estimatedBytes: number;
}

export interface Artifact {
  path: string;
  rowCount: number;
  bytes: number;
}

/** Number of rows that are written to measure their compressed size. */
const SAMPLE_ROWS = 122_880;

/**
 * Estimates the size of the result as a Parquet file, without the query's limit. Computes a
 * grouped result, and counts the rows of an ungrouped one.
 * @throws DatasetError
 */
export function estimateArtifact(query: DatasetQuery, options: ReadingOptions): Promise<ArtifactEstimate> {
  return withDataset(query.path, readingOptions(query, options), async (dataset) => {
    const compiled = await compileWithinMemory(query, dataset);
    const step = percentOf(dataset.onProgress, `measuring the result of ${query.path}`);
    let from = `(${compiled.sql})`;
    let values: string[] | undefined = compiled.values;
    if (compiled.grouped) {
      await dataset.run(`CREATE TEMP TABLE result AS ${compiled.sql}`, values, step(0, 80));
      from = 'result';
      values = undefined;
    }
    const counted = await dataset.run(
      `SELECT count(*) FROM ${from}`,
      values,
      step(compiled.grouped ? 80 : 0, 90),
    );
    const rowCount = Number(counted.value(0, 0));
    const sample = path.join(dataset.scratchFolder, 'sample.parquet');
    const exact = await exactInParquet(from, values, dataset);
    const copied = `SELECT *${exact} FROM ${from} LIMIT ${SAMPLE_ROWS}`;
    await dataset.run(`COPY (${copied}) TO ${quotedString(sample)} (FORMAT parquet)`, values, step(90, 100));
    const { size } = await stat(sample);
    return { rowCount, estimatedBytes: Math.round(size * Math.max(1, rowCount / SAMPLE_ROWS)) };
  });
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
): Promise<Artifact> {
  const target = path.resolve(targetPath);
  const rowCount = await withDataset(
    query.path,
    readingOptions(query, options),
    async (dataset) => {
      const { sql, values, orderBy } = await compileWithinMemory(query, dataset);
      const exact = await exactInParquet(`(${sql})`, values, dataset);
      const copied = await dataset.run(
        `COPY (SELECT *${exact} FROM (${sql})${orderBy}) TO ${quotedString(target)} (FORMAT parquet, USE_TMP_FILE false)`,
        values,
        percentOf(dataset.onProgress, `writing ${path.basename(target)}`)(0, 100),
      );
      return Number(copied.value(0, 0));
    },
    { write: target },
  );
  const file = await open(target, 'r+');
  await file.sync().finally(() => file.close());
  return { path: target, rowCount, bytes: (await stat(target)).size };
}

/** Parquet has no 128-bit integers: DuckDB would write sums of integers as doubles, and lose digits. */
async function exactInParquet(from: string, values: string[] | undefined, dataset: Dataset): Promise<string> {
  const described = await describe(dataset.run, from, values);
  const casts = described.flatMap(({ name, type }) => {
    if (type !== 'HUGEINT' && type !== 'UHUGEINT') return [];
    const column = quotedIdentifier(name);
    return [`CAST(${column} AS DECIMAL(38, 0)) AS ${column}`];
  });
  return casts.length === 0 ? '' : ` REPLACE (${casts.join(', ')})`;
}
