import { quotedIdentifier } from '@duckdb/node-api';
import { isNumeric } from './columns.js';
import { DatasetError, unknownColumn } from './errors.js';
import { resolveOperand } from './field-paths.js';
import { filterCondition } from './filters.js';
import type { Aggregate, Column, DatasetQuery } from '../../tools/analyze_dataset/index.js';

export interface CompiledQuery {
  /** The query without its order: one SELECT with $1, $2 ... for `values`. */
  sql: string;
  /** Bound as text; every place that uses one casts it to its type. */
  values: string[];
  /** ORDER BY clause, or empty. */
  orderBy: string;
  /** Whether rows are grouped or aggregated, so the result is likely small and costly to compute twice. */
  grouped: boolean;
}

/**
 * Converts the structured query to SQL. The only text of the caller in it are quoted
 * identifiers; those of input columns were found in the file before.
 * @throws DatasetError unknown_column, bad_filter, bad_aggregate
 */
export function compileQuery(query: DatasetQuery, source: string, columns: Column[]): CompiledQuery {
  const values: string[] = [];
  const conditions = (query.filters ?? []).map((filter, index) =>
    filterCondition(filter, `filters[${index}]`, columns, values),
  );
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  const groupBy = query.group_by ?? [];
  const aggregates = query.aggregates?.length
    ? query.aggregates
    : groupBy.length > 0
      ? [{ fn: 'count' as const }]
      : [];
  const grouped = groupBy.length > 0 || aggregates.length > 0;
  if (!grouped) {
    const orderBy = orderOf(query, (where, name) => resolveOperand(where, name, columns).sql, []);
    return { sql: `SELECT * FROM ${source}${where}`, values, orderBy, grouped };
  }

  const grouping = groupBy.map((name, index) => resolveOperand(`group_by[${index}]`, name, columns));
  const outputs = [...groupBy, ...aggregates.map(nameOf)];
  refuseTwins(outputs);
  const selected = [
    ...grouping.map(({ name, sql }) => `${sql} AS ${quotedIdentifier(name)}`),
    ...aggregates.map((aggregate, index) => {
      const call = aggregateCall(aggregate, `aggregates[${index}]`, columns);
      return `${call} AS ${quotedIdentifier(nameOf(aggregate))}`;
    }),
  ];
  // Grouping by position, over a subquery: an aggregate's name can't be resolved to a column of the file.
  const positions = groupBy.map((_, index) => index + 1).join(', ');
  const sql =
    `SELECT ${selected.join(', ')} FROM (SELECT * FROM ${source}${where})` +
    (groupBy.length === 0 ? '' : ` GROUP BY ${positions}`);
  const ordering = (where: string, name: string) => {
    if (!outputs.includes(name)) throw unknownColumn(where, name, outputs);
    return quotedIdentifier(name);
  };
  return { sql, values, orderBy: orderOf(query, ordering, groupBy), grouped };
}

function nameOf(aggregate: Aggregate): string {
  return (
    aggregate.as ?? (aggregate.column === undefined ? aggregate.fn : `${aggregate.fn}_${aggregate.column}`)
  );
}

function aggregateCall(aggregate: Aggregate, where: string, columns: readonly Column[]): string {
  if (aggregate.column === undefined) {
    if (aggregate.fn === 'count') return 'count(*)';
    throw new DatasetError('bad_aggregate', `${where}.column: ${aggregate.fn} needs a column; none came`);
  }
  const { name, type, sql } = resolveOperand(`${where}.column`, aggregate.column, columns);
  switch (aggregate.fn) {
    case 'count_distinct':
      return `count(DISTINCT ${sql})`;
    case 'stddev':
    case 'sum':
    case 'avg':
    case 'median':
      if (!isNumeric(type)) {
        throw new DatasetError(
          'bad_aggregate',
          `${where}.column: ${aggregate.fn} expects a numeric column; ${JSON.stringify(name)} is ${type}`,
        );
      }
      // Between two decimals DuckDB cuts the median to their scale: that of 4.64 and 4.65 would be 4.64.
      if (aggregate.fn === 'median' && type.startsWith('DECIMAL')) return `median(CAST(${sql} AS DOUBLE))`;
      return /^(FLOAT|DOUBLE)$/.test(type)
        ? floatAggregate(aggregate.fn, sql)
        : `${FUNCTIONS[aggregate.fn]}(${sql})`;
    case 'count':
    case 'min':
    case 'max':
      return `${aggregate.fn}(${sql})`;
  }
}

const FUNCTIONS = { sum: 'sum', avg: 'avg', median: 'median', stddev: 'stddev_samp' } as const;

/** With infinite values of both signs DuckDB's result is NaN, and the standard deviation an error: both become NULL. */
function floatAggregate(fn: keyof typeof FUNCTIONS, column: string): string {
  const call = `${FUNCTIONS[fn]}(${column})`;
  if (fn === 'stddev')
    return `CASE WHEN bool_or(isinf(${column})) THEN NULL ELSE ${call} FILTER (isfinite(${column})) END`;
  return `CASE WHEN isnan(${call}) THEN NULL ELSE ${call} END`;
}

/** Refuses names that differ in case only: DuckDB treats them as equal. */
function refuseTwins(outputs: readonly string[]): void {
  const seen = new Set<string>();
  for (const name of outputs) {
    const folded = name.toLowerCase();
    if (seen.has(folded)) {
      throw new DatasetError(
        'bad_aggregate',
        `group_by, aggregates: two columns of the result would be called ${JSON.stringify(name)}; name one with "as"`,
      );
    }
    seen.add(folded);
  }
}

/** Groups are also ordered by their keys, so the same call gives the same rows every time. */
function orderOf(
  query: DatasetQuery,
  ordering: (where: string, name: string) => string,
  groupBy: readonly string[],
): string {
  const terms = (query.order_by ?? []).map(
    ({ column, direction }, index) =>
      `${ordering(`order_by[${index}].column`, column)} ${direction === 'desc' ? 'DESC' : 'ASC'} NULLS LAST`,
  );
  const ordered = new Set(query.order_by?.map(({ column }) => column));
  for (const name of groupBy) {
    if (!ordered.has(name)) terms.push(`${quotedIdentifier(name)} ASC NULLS LAST`);
  }
  return terms.length === 0 ? '' : ` ORDER BY ${terms.join(', ')}`;
}
