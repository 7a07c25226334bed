/** Activities of analyze_dataset. All are idempotent, and report DuckDB's progress. */
import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import type { ColumnProfile, DatasetQuery } from '../../tools/analyze_dataset/index.js';
import {
  DatasetError,
  estimateArtifact,
  inspect,
  profileColumns,
  runQuery,
  writeParquet,
  type ArtifactEstimate,
  type DatasetOptions,
  type Inspection,
  type QueryResult,
  type Reading,
} from './analysis.js';
import { cancellationSignal, report, saveArtifact, workerSettings, type Artifact } from '../runtime/index.js';

/** Determines format, columns and number of rows of the file. */
export function inspectDataset(path: string, onBadRows?: DatasetQuery['on_bad_rows']): Promise<Inspection> {
  return withOptions((options) => inspect(path, { ...options, ...(onBadRows && { onBadRows }) }));
}

/** Describes a batch of columns; reports finished columns. */
export function profileDatasetColumns(
  path: string,
  names: string[],
  reading: Reading,
): Promise<ColumnProfile[]> {
  return withOptions((options) => profileColumns(path, names, { ...options, reading }), names.length);
}

/** Runs the query; reports the finished share. */
export function queryDataset(query: DatasetQuery, reading: Reading): Promise<QueryResult> {
  return withOptions((options) => runQuery(query, { ...options, reading }), 1);
}

/** Estimates the size of the result's Parquet file. */
export function estimateDatasetArtifact(query: DatasetQuery, reading: Reading): Promise<ArtifactEstimate> {
  return withOptions((options) => estimateArtifact(query, { ...options, reading }));
}

/** Writes the whole result as a Parquet file and stores it as an artifact. */
export function writeDatasetArtifact(
  query: DatasetQuery,
  reading: Reading,
): Promise<Artifact & { rowCount: number }> {
  return withOptions(async (options) => {
    const folder = join(options.tempFolder, randomUUID());
    await mkdir(folder, { recursive: true });
    try {
      const path = join(folder, 'result.parquet');
      const { rowCount } = await writeParquet(query, path, { ...options, reading });
      return { ...(await saveArtifact(path)), rowCount };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }, 1);
}

/**
 * Calls the analysis with this worker's options.
 *
 * @param units this activity's share of the operation's progress, in units; without it nothing is reported
 */
async function withOptions<T>(work: (options: DatasetOptions) => Promise<T>, units?: number): Promise<T> {
  const { home, dataFolders } = workerSettings();
  const tempFolder = join(home, 'tmp');
  await mkdir(tempFolder, { recursive: true });
  try {
    const result = await work({
      signal: cancellationSignal(),
      allowedFolders: dataFolders,
      tempFolder,
      onProgress: ({ progress, total, message }) => {
        if (units === undefined || !total) return;
        report({
          progress: (progress / total) * units,
          total: units,
          ...(message === undefined ? {} : { message }),
        });
      },
    });
    if (units !== undefined) report({ progress: units, total: units });
    return result;
  } catch (error) {
    // Mistakes in the arguments aren't retried; other errors are.
    if (error instanceof DatasetError)
      throw ApplicationFailure.nonRetryable(error.message, `dataset_${error.code}`);
    throw error;
  }
}
