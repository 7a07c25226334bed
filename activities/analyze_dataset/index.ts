/** Activities of analyze_dataset. All are idempotent, and report DuckDB's progress. */
import { AsyncResource } from 'node:async_hooks';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { DataFolders } from '../../platform/data-folders.js';
import { dataFoldersOf } from '../../platform/settings/private-paths.js';
import type { ColumnProfile, DatasetQuery } from '../../tools/analyze_dataset/index.js';
import type { ArtifactEstimate, Inspection, QueryResult, Reading } from './analysis.js';
import { analyzeInChild, type InChildOptions } from './analyze-in-child.js';
import { DatasetError } from './errors.js';
import { claimScratch, releaseScratch, sweepLeftovers } from './leftovers.js';
import { cancellationSignal, report, saveArtifact, workerSettings, type Artifact } from '../runtime/index.js';

/** Determines format, columns and number of rows of the file. */
export function inspectDataset(path: string, onBadRows?: DatasetQuery['on_bad_rows']): Promise<Inspection> {
  return inScratch((options, inChild) =>
    analyzeInChild(
      { name: 'inspect', args: [path], options: { ...options, ...(onBadRows && { onBadRows }) } },
      inChild,
    ),
  );
}

/** Describes a batch of columns; reports finished columns. */
export function profileDatasetColumns(
  path: string,
  names: string[],
  reading: Reading,
): Promise<ColumnProfile[]> {
  return inScratch(
    (options, inChild) =>
      analyzeInChild(
        { name: 'profileColumns', args: [path, names], options: { ...options, reading } },
        inChild,
      ),
    names.length,
  );
}

/** Runs the query; reports the finished share. */
export function queryDataset(query: DatasetQuery, reading: Reading): Promise<QueryResult> {
  return inScratch(
    (options, inChild) =>
      analyzeInChild({ name: 'runQuery', args: [query], options: { ...options, reading } }, inChild),
    1,
  );
}

/** Estimates the size of the result's Parquet file. */
export function estimateDatasetArtifact(query: DatasetQuery, reading: Reading): Promise<ArtifactEstimate> {
  return inScratch((options, inChild) =>
    analyzeInChild({ name: 'estimateArtifact', args: [query], options: { ...options, reading } }, inChild),
  );
}

/** Writes the whole result as a Parquet file and stores it as an artifact. */
export function writeDatasetArtifact(
  query: DatasetQuery,
  reading: Reading,
): Promise<Artifact & { rowCount: number }> {
  return inScratch(async (options, inChild) => {
    const target = join(options.tempFolder, 'result.parquet');
    const { rowCount } = await analyzeInChild(
      { name: 'writeParquet', args: [query, target], options: { ...options, reading } },
      inChild,
    );
    return { ...(await saveArtifact(target)), rowCount };
  }, 1);
}

/**
 * Does the work in a temporary folder, which is removed afterwards.
 *
 * @param units this activity's share of the operation's progress, in units; without it nothing is reported
 */
async function inScratch<T>(
  work: (options: { dataFolders: DataFolders; tempFolder: string }, inChild: InChildOptions) => Promise<T>,
  units?: number,
): Promise<T> {
  const settings = workerSettings();
  const folder = join(settings.home, 'tmp');
  await mkdir(folder, { recursive: true });
  await sweepLeftovers(folder);
  const tempFolder = claimScratch(folder);
  try {
    await mkdir(tempFolder);
    const result = await work(
      { dataFolders: dataFoldersOf(settings), tempFolder },
      {
        // Temporal's time-out holds during an outage of Temporal too.
        signal: AbortSignal.any([
          cancellationSignal(),
          AbortSignal.timeout(activityInfo().startToCloseTimeoutMs),
        ]),
        onProgress: AsyncResource.bind(({ progress, total, message }) => {
          if (units === undefined || !total) return;
          report({
            progress: (progress / total) * units,
            total: units,
            ...(message === undefined ? {} : { message }),
          });
        }),
      },
    );
    if (units !== undefined) report({ progress: units, total: units });
    return result;
  } catch (error) {
    // Mistakes in the arguments aren't retried; other errors are.
    if (error instanceof DatasetError)
      throw ApplicationFailure.nonRetryable(error.message, `dataset_${error.code}`);
    throw error;
  } finally {
    await releaseScratch(tempFolder);
  }
}
