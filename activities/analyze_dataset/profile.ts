/** Profiles of columns over the whole file. */
import { quotedIdentifier } from '@duckdb/node-api';
import type { Json } from '@duckdb/node-api';
import type { Column, ColumnProfile } from '../../tools/analyze_dataset/index.js';
import { withDataset, type Dataset, type ReadingOptions } from './dataset.js';
import { isNumeric } from './query.js';
import { rowsOf, shortened, shortType } from './values.js';

const TOP_VALUES = 5;
/** Distinct values that are counted exactly, by the estimates, of all columns of a pass. */
const MAX_COUNTED = 1_000_000;
const MAX_SHOWN_CHARACTERS = 200;

/** Describes some columns of the whole file, in two passes: the second counts distinct and the most frequent values. */
export function profileColumns(
  path: string,
  names: readonly string[],
  options: ReadingOptions,
): Promise<ColumnProfile[]> {
  return withDataset(path, options, async (dataset) => {
    const all = dataset.reading.columns;
    const columns = names.map((name) => all.find((column) => column.name === name)!);
    const total = columns.length;
    const message = `profiling ${total} columns, ${columns[0]!.name} to ${columns.at(-1)!.name}`;
    const report = (share: number) => options.onProgress({ progress: share * total, total, message });
    report(0);
    const profiles = await profileBatch(dataset, columns, report);
    report(1);
    return profiles;
  });
}

async function profileBatch(
  { run, source }: Dataset,
  columns: Column[],
  report: (share: number) => void,
): Promise<ColumnProfile[]> {
  const measures = ['count(*)', ...columns.flatMap(measuresOf)].join(', ');
  const measured = await run(`SELECT ${measures} FROM ${source}`, (share) => report(share * 0.6));
  const row = rowsOf(measured)[0] ?? [];
  const rowCount = Number(row[0]);
  const profiles = columns.map(({ name, type }, index): ColumnProfile => {
    const [present, distinct, min, max, mean, stddev, quartiles] = row.slice(1 + index * 7, 8 + index * 7);
    const nullCount = rowCount - Number(present);
    return {
      name,
      type: shortType(type),
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
  let left = MAX_COUNTED;
  const counted = [...profiles]
    .sort((one, other) => one.approx_distinct - other.approx_distinct)
    .filter(({ approx_distinct: distinct }) => (left -= distinct) >= 0);
  await countValues({ run, source }, counted, (share) => report(0.6 + share * 0.4));
  return profiles;
}

/** Seven expressions a column, in the order in which `profileBatch` takes them apart. */
function measuresOf({ name, type }: Column): string[] {
  const column = quotedIdentifier(name);
  const isOrdered = isNumeric(type) || /^(VARCHAR|BOOLEAN|DATE|TIME.*|UUID|ENUM.*)$/s.test(type);
  const range = isOrdered ? [`min(${column})`, `max(${column})`] : ['NULL', 'NULL'];
  const number = `CAST(${column} AS DOUBLE)`;
  const finite = /^(FLOAT|DOUBLE)$/.test(type) ? ` FILTER (isfinite(${column}))` : '';
  const statistics = [
    `avg(${number})`,
    `stddev_samp(${number})`,
    `approx_quantile(${number}, [0.25, 0.5, 0.75])`,
  ];
  return [
    `count(${column})`,
    `approx_count_distinct(${column})`,
    ...range,
    ...statistics.map((measure) => (isNumeric(type) ? `${measure}${finite}` : 'NULL')),
  ];
}

/** Counts the distinct values of these columns, and the most frequent ones of texts and booleans, in one pass. */
async function countValues(
  { run, source }: Pick<Dataset, 'run' | 'source'>,
  profiles: readonly ColumnProfile[],
  onShare: (share: number) => void,
): Promise<void> {
  if (profiles.length === 0) return;
  const names = profiles.map(({ name }) => quotedIdentifier(name));
  // grouping_id has one bit a column, cleared where that column is the grouped one.
  const whens = names.map((name, index) => `WHEN grouping(${name}) = 0 THEN ${index}`).join(' ');
  const values = names.map((name) => `CAST(${name} AS VARCHAR)`).join(', ');
  const counted = await run(
    `SELECT which, value, n, count(*) OVER (PARTITION BY which) FROM (
       SELECT CASE ${whens} END AS which, coalesce(${values}) AS value, count(*) AS n
       FROM ${source} GROUP BY GROUPING SETS (${names.map((name) => `(${name})`).join(', ')}))
     WHERE value IS NOT NULL
     QUALIFY row_number() OVER (PARTITION BY which ORDER BY n DESC, value) <= ${TOP_VALUES}
     ORDER BY which, n DESC, value`,
    onShare,
  );
  for (const profile of profiles)
    if (/^(VARCHAR|BOOLEAN|ENUM.*)$/s.test(profile.type)) profile.top_values = [];
  for (const [which, value, count, distinct] of rowsOf(counted)) {
    const profile = profiles[Number(which)]!;
    profile.approx_distinct = Number(distinct);
    const shown =
      profile.type === 'BOOLEAN' ? value === 'true' : shortened(value ?? null, MAX_SHOWN_CHARACTERS);
    profile.top_values?.push({ value: shown, count: Number(count) });
  }
}

function numberOrNull(value: Json | undefined): number | null {
  return typeof value === 'number' ? value : null;
}
