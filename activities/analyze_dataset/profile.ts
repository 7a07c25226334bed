import { quotedIdentifier } from '@duckdb/node-api';
import type { Json } from '@duckdb/node-api';
import { findColumn, isNumeric } from './columns.js';
import { withDataset } from './dataset.js';
import type { Dataset, ReadingOptions } from './dataset.js';
import { inBatches } from './inspect.js';
import type { Column, ColumnProfile } from '../../tools/analyze_dataset/index.js';
import { textTable } from './text-table.js';
import { rowsOf, shortened, shortType } from './values.js';

const TOP_VALUES = 5;
/** Beyond this number of distinct values the most frequent ones are of little use and expensive to count. */
const MAX_DISTINCT_FOR_TOP_VALUES = 1_000_000;
const MAX_SHOWN_CHARACTERS = 200;

/**
 * Describes some columns of the whole file. Takes columns one by one from a Parquet file, where that
 * costs nothing, and all in one pass from a CSV or JSON file, which has to be parsed whole
 * each time; a second pass counts the most frequent values. Progress counts columns.
 * @throws DatasetError
 */
export function profileColumns(
  path: string,
  names: readonly string[],
  options: ReadingOptions,
): Promise<ColumnProfile[]> {
  return withDataset(path, options, async (dataset) => {
    const columns = names.map((name, index) => findColumn(`columns[${index}]`, name, dataset.columns));
    const profiles: ColumnProfile[] = [];
    for (const batch of inBatches(columns, dataset.file.format === 'parquet' ? 1 : 32)) {
      const message =
        batch.length === 1
          ? `profiling ${batch[0]!.name} (${profiles.length + 1} of ${columns.length} columns)`
          : `profiling ${batch.length} columns, ${batch[0]!.name} to ${batch.at(-1)!.name}, in one pass`;
      const report = (share: number) =>
        dataset.onProgress({
          progress: profiles.length + share * batch.length,
          total: columns.length,
          message,
        });
      report(0);
      profiles.push(...(await profileBatch(dataset, batch, report)));
    }
    dataset.onProgress({
      progress: columns.length,
      total: columns.length,
      message: `profiled ${columns.length} columns`,
    });
    return profiles;
  });
}

async function profileBatch(
  dataset: Dataset,
  columns: Column[],
  report: (share: number) => void,
): Promise<ColumnProfile[]> {
  const measures = columns.flatMap(measuresOf);
  const reader = await dataset.run(
    `SELECT count(*), ${measures.join(', ')} FROM ${dataset.source}`,
    undefined,
    (share) => report(share * 0.6),
  );
  const row = rowsOf(reader)[0] ?? [];
  const rowCount = Number(row[0]);
  const profiles = columns.map((column, index): ColumnProfile => {
    const [present, distinct, min, max, mean, stddev, quartiles] = row.slice(1 + index * 7, 8 + index * 7);
    const nullCount = rowCount - Number(present);
    return {
      name: column.name,
      type: shortType(column.type),
      row_count: rowCount,
      null_count: nullCount,
      null_share: rowCount === 0 ? 0 : nullCount / rowCount,
      // The estimate of a column without repetition may pass the number of its values.
      approx_distinct: Math.min(Number(distinct), Number(present)),
      min: shortened(min ?? null, MAX_SHOWN_CHARACTERS),
      max: shortened(max ?? null, MAX_SHOWN_CHARACTERS),
      mean: numberOrNull(mean),
      stddev: numberOrNull(stddev),
      approx_quartiles: Array.isArray(quartiles) ? quartiles.map(Number) : null,
      top_values: null,
    };
  });
  const counted = columns.filter(
    ({ type }, index) =>
      hasTopValues(type) && profiles[index]!.approx_distinct <= MAX_DISTINCT_FOR_TOP_VALUES,
  );
  const top = await topValues(dataset, counted, (share) => report(0.6 + share * 0.4));
  return profiles.map((profile) => ({ ...profile, top_values: top.get(profile.name) ?? null }));
}

/** Seven expressions a column, in the order in which `profileBatch` takes them apart. */
function measuresOf({ name, type }: Column): string[] {
  const column = quotedIdentifier(name);
  const measures = [`count(${column})`, `approx_count_distinct(${column})`];
  const ordered = isNumeric(type) || /^(VARCHAR|BOOLEAN|DATE|TIME.*|UUID|ENUM.*)$/s.test(type);
  measures.push(ordered ? `min(${column})` : 'NULL', ordered ? `max(${column})` : 'NULL');
  if (!isNumeric(type)) return [...measures, 'NULL', 'NULL', 'NULL'];
  const number = `CAST(${column} AS DOUBLE)`;
  const finite = /^(FLOAT|DOUBLE)$/.test(type) ? ` FILTER (isfinite(${column}))` : '';
  return [
    ...measures,
    `avg(${number})${finite}`,
    `stddev_samp(${number})${finite}`,
    `approx_quantile(${number}, [0.25, 0.5, 0.75])${finite}`,
  ];
}

function hasTopValues(type: string): boolean {
  return /^(VARCHAR|BOOLEAN|ENUM.*)$/s.test(type);
}

/** The most frequent values of all these columns, exactly counted in one pass over the file. */
async function topValues(
  dataset: Dataset,
  columns: readonly Column[],
  onShare: (share: number) => void,
): Promise<Map<string, { value: Json; count: number }[]>> {
  const top = new Map<string, { value: Json; count: number }[]>(columns.map(({ name }) => [name, []]));
  if (columns.length === 0) return top;
  const names = columns.map(({ name }) => quotedIdentifier(name));
  const sets = names.map((name) => `(${name})`).join(', ');
  // grouping_id has one bit a column, cleared where that column is the grouped one.
  const whens = names.map((name, index) => `WHEN grouping(${name}) = 0 THEN ${index}`).join(' ');
  const values = names.map((name) => `CAST(${name} AS VARCHAR)`).join(', ');
  const reader = await dataset.run(
    `SELECT which, value, n FROM (
       SELECT CASE ${whens} END AS which, coalesce(${values}) AS value, count(*) AS n
       FROM ${dataset.source} GROUP BY GROUPING SETS (${sets}))
     WHERE value IS NOT NULL
     QUALIFY row_number() OVER (PARTITION BY which ORDER BY n DESC, value) <= ${TOP_VALUES}
     ORDER BY which, n DESC, value`,
    undefined,
    onShare,
  );
  for (const [which, value, count] of rowsOf(reader)) {
    const column = columns[Number(which)]!;
    const shown =
      column.type === 'BOOLEAN' ? value === 'true' : shortened(value ?? null, MAX_SHOWN_CHARACTERS);
    top.get(column.name)!.push({ value: shown, count: Number(count) });
  }
  return top;
}

function numberOrNull(value: Json | undefined): number | null {
  return typeof value === 'number' ? value : null;
}

/** The profile as a text table: one row per column. */
export function profileTable(profiles: readonly ColumnProfile[]): string {
  const names = ['column', 'type', 'nulls', 'distinct ≈', 'min', 'max', 'mean', 'median ≈', 'most frequent'];
  const rows = profiles.map((profile): Json[] => [
    profile.name,
    profile.type,
    profile.null_count,
    profile.approx_distinct,
    profile.min as Json,
    profile.max as Json,
    profile.mean,
    profile.approx_quartiles?.[1] ?? null,
    profile.top_values
      ?.map(({ value, count }) => `${typeof value === 'string' ? value : JSON.stringify(value)} (${count})`)
      .join(', ') ?? null,
  ]);
  return textTable(names, rows, rows.length);
}
