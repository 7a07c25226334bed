/** Activities of analyze_dataset. All are idempotent, and report DuckDB's progress. */
import { AsyncResource } from 'node:async_hooks';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { temporaryPath } from '../../platform/home/atomic-files.js';
import { dataFoldersOf } from '../../platform/settings/private-paths.js';
import type { ColumnProfile, DatasetQuery } from '../../tools/analyze_dataset/index.js';
import { cancellationSignal, report, saveArtifact, workerSettings, type Artifact } from '../runtime/index.js';
import type { Inspection, QueryResult } from './analysis.js';
import type { Analysis, AnalysisCall } from './analysis-process.js';
import { analyzeInChild, type AnalysisResult } from './analyze-in-child.js';
import type { OnProgress, Reading, ReadingOptions } from './dataset.js';
import { DatasetError } from './errors.js';

/** Determines format, columns and number of rows of the file. @param given arguments for how it is read */
export function inspectDataset(path: string, given: Partial<DatasetQuery>): Promise<Inspection> {
  return inScratch((analyze) => analyze('inspect', [path], { given }));
}

/** Describes a batch of columns. */
export function profileDatasetColumns(
  path: string,
  names: string[],
  reading: Reading,
): Promise<ColumnProfile[]> {
  return inScratch((analyze) => analyze('profileColumns', [path, names], { reading }), names.length);
}

/** Runs the query; reports the finished share. */
export function queryDataset(query: DatasetQuery, reading: Reading): Promise<QueryResult> {
  return inScratch((analyze) => analyze('runQuery', [query], { reading }), 1);
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
  return inScratch(async (analyze) => {
    const { file, rowCount } = await analyze('writeParquet', [query], { reading });
    return { ...(await saveArtifact(file)), rowCount };
  }, 1);
}

type Analyze = <Name extends keyof Analysis>(
  name: Name,
  args: AnalysisCall<Name>['args'],
  options: Pick<ReadingOptions, 'given' | 'reading'>,
) => Promise<AnalysisResult<Name>>;

/**
 * Does the work in a temporary folder, which is removed afterwards.
 *
 * @param units this activity's share of the operation's progress, in units; without it nothing is reported
 */
async function inScratch<T>(work: (analyze: Analyze) => Promise<T>, units?: number): Promise<T> {
  const settings = workerSettings();
  // If its host goes down, a worker removes it later.
  const tempFolder = temporaryPath(join(settings.home, 'tmp', 'dataset'));
  await mkdir(tempFolder, { recursive: true });
  const onProgress: OnProgress = AsyncResource.bind((share: number, message: string) => {
    if (units !== undefined) report({ progress: share * units, total: units, message });
  });
  // Temporal's time-out holds during an outage of Temporal too.
  const timeout = AbortSignal.timeout(activityInfo().startToCloseTimeoutMs);
  const signal = AbortSignal.any([cancellationSignal(), timeout]);
  const dataFolders = dataFoldersOf(settings);
  try {
    const result = await work((name, args, options) =>
      analyzeInChild(
        { name, args, options: { ...options, dataFolders, tempFolder } },
        { signal, onProgress },
      ),
    );
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
