/** Activities of analyze_dataset. All are idempotent, and report DuckDB's progress. */
import { AsyncResource } from 'node:async_hooks';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { dataFoldersOf } from '../../platform/settings/private-paths.js';
import type { ColumnProfile, DatasetQuery } from '../../tools/analyze_dataset/index.js';
import { cancellationSignal, report, saveArtifact, workerSettings, type Artifact } from '../runtime/index.js';
import type { Inspection, QueryResult } from './analysis.js';
import { analyzeInChild, type InChildOptions } from './analyze-in-child.js';
import type { Reading, ReadingOptions } from './dataset.js';
import { DatasetError } from './errors.js';
import { makeScratch, sweepLeftovers } from './leftovers.js';
import type { Progress } from './session.js';

/** Determines format, columns and number of rows of the file. @param given arguments for how it is read */
export function inspectDataset(path: string, given: Partial<DatasetQuery>): Promise<Inspection> {
  return inScratch(({ options, child }) =>
    analyzeInChild({ name: 'inspect', args: [path], options: { ...options, given } }, child),
  );
}

/** Describes a batch of columns. */
export function profileDatasetColumns(
  path: string,
  names: string[],
  reading: Reading,
): Promise<ColumnProfile[]> {
  return inScratch(
    ({ options, child }) =>
      analyzeInChild(
        { name: 'profileColumns', args: [path, names], options: { ...options, reading } },
        child,
      ),
    names.length,
  );
}

/** Runs the query; reports the finished share. */
export function queryDataset(query: DatasetQuery, reading: Reading): Promise<QueryResult> {
  return inScratch(
    ({ options, child }) =>
      analyzeInChild({ name: 'runQuery', args: [query], options: { ...options, reading } }, child),
    1,
  );
}

/** Parquet's bytes for each byte of a file. */
const PARQUET_SHARE = { csv: 0.5, json: 0.25, parquet: 1 };

/** Estimates the size of the result's Parquet file by the file's bytes per row. An activity, as kept histories have it. */
export function estimateDatasetArtifact(
  rowCount: number,
  file: Pick<Inspection, 'format' | 'bytes' | 'rowCount'>,
): Promise<{ estimatedBytes: number }> {
  const bytes = (file.bytes * PARQUET_SHARE[file.format] * rowCount) / Math.max(1, file.rowCount);
  return Promise.resolve({ estimatedBytes: Math.ceil(bytes) });
}

/** Writes the whole result as a Parquet file and stores it as an artifact. */
export function writeDatasetArtifact(
  query: DatasetQuery,
  reading: Reading,
): Promise<Artifact & { rowCount: number }> {
  return inScratch(async ({ options, child }) => {
    const target = join(options.tempFolder, 'result.parquet');
    const rowCount = await analyzeInChild(
      { name: 'writeParquet', args: [query, target], options: { ...options, reading } },
      child,
    );
    return { ...(await saveArtifact(target)), rowCount };
  }, 1);
}

interface Scratch {
  options: Pick<ReadingOptions, 'dataFolders' | 'tempFolder'>;
  child: InChildOptions;
}

/**
 * Does the work in a temporary folder, which is removed afterwards.
 *
 * @param units this activity's share of the operation's progress, in units; without it nothing is reported
 */
async function inScratch<T>(work: (scratch: Scratch) => Promise<T>, units?: number): Promise<T> {
  const settings = workerSettings();
  const folder = join(settings.home, 'tmp');
  await mkdir(folder, { recursive: true });
  await sweepLeftovers(folder);
  const tempFolder = await makeScratch(folder);
  const options = { dataFolders: dataFoldersOf(settings), tempFolder };
  const onProgress = AsyncResource.bind(({ progress, total, message }: Progress) => {
    if (units === undefined) return;
    report({ progress: (progress / total) * units, total: units, ...(message !== undefined && { message }) });
  });
  // Temporal's time-out holds during an outage of Temporal too.
  const timeout = AbortSignal.timeout(activityInfo().startToCloseTimeoutMs);
  const signal = AbortSignal.any([cancellationSignal(), timeout]);
  try {
    const result = await work({ options, child: { signal, onProgress } });
    if (units !== undefined) report({ progress: units, total: units });
    return result;
  } catch (error) {
    // Mistakes in the arguments aren't retried; other errors are.
    if (error instanceof DatasetError)
      throw ApplicationFailure.nonRetryable(error.message, `dataset_${error.code}`);
    throw error;
  } finally {
    await rm(tempFolder, { recursive: true, force: true });
  }
}
