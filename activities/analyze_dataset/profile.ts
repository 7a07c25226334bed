/** Profiles of columns over the whole file. */
import { quotedIdentifier } from '@duckdb/node-api';
import type { Json } from '@duckdb/node-api';
import type { ColumnProfile } from '../../tools/analyze_dataset/index.js';
import { withDataset, type Dataset, type ReadingOptions } from './dataset.js';
import { isNumeric } from './query.js';
import type { OnShare } from './session.js';
import { rowsOf, shortType } from './values.js';

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
  const message = `profiling ${names.length} columns, ${names[0]} to ${names.at(-1)}`;
  const report = (share: number) => options.onProgress(share, message);
  return withDataset(path, options, async ({ run, source, reading }) => {
    report(0);
    const columns = names.map((name) => reading.columns.find((column) => column.name === name)!);
    const measures = columns.map(({ name, type }) => measuresOf(quotedIdentifier(name), type));
    const measured = await run(`SELECT count(*), ${measures.flat().join(', ')} FROM ${source}`, (share) =>
      report(share * 0.6),
    );
    const [total, ...row] = rowsOf(measured, MAX_SHOWN_CHARACTERS)[0]!;
    const rowCount = Number(total);
    const profiles = columns.map(({ name, type }, index): ColumnProfile => {
      const at = index * measures[0]!.length;
      const [present, distinct, min = null, max = null, mean, stddev, quartiles] = row.slice(at);
      const nullCount = rowCount - Number(present);
      return {
        name,
        type: shortType(type),
        row_count: rowCount,
        null_count: nullCount,
        null_share: rowCount === 0 ? 0 : nullCount / rowCount,
        // The estimate of a column without repetition may pass the number of its values.
        approx_distinct: Math.min(Number(distinct), Number(present)),
        min,
        max,
        mean: numberOrNull(mean),
        stddev: numberOrNull(stddev),
        approx_quartiles: Array.isArray(quartiles) ? quartiles.map(Number) : null,
        top_values: null,
      };
    });
    await countValues({ run, source }, profiles, (share) => report(0.6 + share * 0.4));
    report(1);
    return profiles;
  });
}

/** Seven expressions: count, estimate of distinct values, minimum, maximum, mean, standard deviation, quartiles. */
function measuresOf(column: string, type: string): string[] {
  const isOrdered = isNumeric(type) || /^(VARCHAR|BOOLEAN|DATE|TIME.*|UUID|ENUM.*)$/s.test(type);
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
    ...['min', 'max'].map((fn) => (isOrdered ? `${fn}(${column})` : 'NULL')),
    ...statistics.map((measure) => (isNumeric(type) ? `${measure}${finite}` : 'NULL')),
  ];
}

/** Counts the distinct values of columns that don't have too many, and the most frequent ones of texts and booleans, in one pass. */
async function countValues(
  { run, source }: Pick<Dataset, 'run' | 'source'>,
  profiles: readonly ColumnProfile[],
  onShare: OnShare,
): Promise<void> {
  let left = MAX_COUNTED;
  const counted = [...profiles]
    .sort((one, other) => one.approx_distinct - other.approx_distinct)
    .filter(({ approx_distinct: distinct }) => (left -= distinct) >= 0);
  if (counted.length === 0) return;
  const names = counted.map(({ name }) => quotedIdentifier(name));
  // grouping_id has one bit a column, cleared where that column is the grouped one.
  const whens = names.map((name, index) => `WHEN grouping(${name}) = 0 THEN ${index}`).join(' ');
  const found = await run(
    `SELECT which, value, n, count(*) OVER (PARTITION BY which) FROM (
       SELECT CASE ${whens} END AS which, coalesce(${names.map((name) => `CAST(${name} AS VARCHAR)`).join(', ')}) AS value, count(*) AS n
       FROM ${source} GROUP BY GROUPING SETS (${names.map((name) => `(${name})`).join(', ')}))
     WHERE value IS NOT NULL
     QUALIFY row_number() OVER (PARTITION BY which ORDER BY n DESC, value) <= ${TOP_VALUES}
     ORDER BY which, n DESC, value`,
    onShare,
  );
  for (const profile of counted)
    if (/^(VARCHAR|BOOLEAN|ENUM.*)$/s.test(profile.type)) profile.top_values = [];
  for (const [which, value = null, count, distinct] of rowsOf(found, MAX_SHOWN_CHARACTERS)) {
    const profile = counted[Number(which)]!;
    profile.approx_distinct = Number(distinct);
    profile.top_values?.push({
      value: profile.type === 'BOOLEAN' ? value === 'true' : value,
      count: Number(count),
    });
  }
}

function numberOrNull(value: Json | undefined): number | null {
  return typeof value === 'number' ? value : null;
}
