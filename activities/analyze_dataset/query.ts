/** Converts the structured query to SQL. Of the caller's text it has only quoted strings, and quoted names that were checked. */
import { DuckDBTypeId, quotedIdentifier, quotedString } from '@duckdb/node-api';
import type { DuckDBType } from '@duckdb/node-api';
import type { Aggregate, DatasetQuery, Filter } from '../../tools/analyze_dataset/index.js';
import { DatasetError, unknownColumn } from './errors.js';

export interface CompiledQuery {
  /** One SELECT, without its order. */
  sql: string;
  /** ORDER BY clause, or empty. */
  orderBy: string;
  /** Whether rows are grouped or aggregated, so the result is likely small and costly to compute twice. */
  isGrouped: boolean;
}

/** A column, or a field of one. */
export interface Operand {
  name: string;
  type: DuckDBType;
  sql: string;
}

const NUMERIC = /^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|FLOAT|DOUBLE|BIGNUM|DECIMAL\(.*\))$/;

export function isNumeric(type: string): boolean {
  return NUMERIC.test(type);
}

/** @throws DatasetError unknown_column, bad_filter, bad_aggregate */
export function compileQuery(query: DatasetQuery, source: string, columns: Operand[]): CompiledQuery {
  const { filters = [], group_by: groupBy = [] } = query;
  const conditions = filters.map((filter, at) => filterCondition(filter, `filters[${at}]`, columns));
  const rows = `${source}${conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`}`;
  const counted: Aggregate[] = groupBy.length > 0 ? [{ fn: 'count' }] : [];
  const aggregates = query.aggregates?.length ? query.aggregates : counted;
  if (aggregates.length === 0) {
    const orderBy = orderOf(query, (where, name) => resolve(where, name, columns).sql);
    return { sql: `SELECT * FROM ${rows}`, orderBy, isGrouped: false };
  }
  const outputs = [
    ...groupBy,
    ...aggregates.map(({ fn, column, as }) => as ?? (column === undefined ? fn : `${fn}_${column}`)),
  ];
  const lower = outputs.map((name) => name.toLowerCase());
  const twin = outputs.find((_, at) => lower.indexOf(lower[at]!) < at);
  if (twin !== undefined)
    throw new DatasetError(
      'bad_aggregate',
      `group_by, aggregates: two columns of the result would be called ${JSON.stringify(twin)}; name one with "as"`,
    );
  const selected = [
    ...groupBy.map((name, at) => resolve(`group_by[${at}]`, name, columns).sql),
    ...aggregates.map((aggregate, at) => aggregateCall(aggregate, `aggregates[${at}]`, columns)),
  ].map((sql, at) => `${sql} AS ${quotedIdentifier(outputs[at]!)}`);
  // Grouping by position, over a subquery: an aggregate's name can't be resolved to a column of the file.
  const grouping = groupBy.length === 0 ? '' : ` GROUP BY ${groupBy.map((_, at) => at + 1).join(', ')}`;
  const orderBy = orderOf(query, (where, name) => {
    if (!outputs.includes(name)) throw unknownColumn(where, name, outputs);
    return quotedIdentifier(name);
  });
  return {
    sql: `SELECT ${selected.join(', ')} FROM (SELECT * FROM ${rows})${grouping}`,
    orderBy,
    isGrouped: true,
  };
}

/** Groups are also ordered by their keys, so the same call gives the same rows every time. */
function orderOf(
  { order_by: orders = [], group_by: groupBy = [] }: DatasetQuery,
  sqlOf: (where: string, name: string) => string,
): string {
  const terms = orders.map(
    ({ column, direction = 'asc' }, at) =>
      `${sqlOf(`order_by[${at}].column`, column)} ${direction === 'desc' ? 'DESC' : 'ASC'} NULLS LAST`,
  );
  for (const name of groupBy)
    if (!orders.some(({ column }) => column === name)) terms.push(`${quotedIdentifier(name)} ASC NULLS LAST`);
  return terms.length === 0 ? '' : ` ORDER BY ${terms.join(', ')}`;
}

function aggregateCall({ fn, column }: Aggregate, where: string, columns: Operand[]): string {
  const bad = (fault: string) => new DatasetError('bad_aggregate', `${where}.column: ${fn} ${fault}`);
  if (column === undefined) {
    if (fn === 'count') return 'count(*)';
    throw bad('needs a column; none came');
  }
  const operand = resolve(`${where}.column`, column, columns);
  const { sql } = operand;
  const type = String(operand.type);
  if (fn === 'count_distinct') return `count(DISTINCT ${sql})`;
  if (fn === 'count' || fn === 'min' || fn === 'max') return `${fn}(${sql})`;
  if (!isNumeric(type)) throw bad(`expects a numeric column; ${JSON.stringify(column)} is ${type}`);
  const call = `${fn === 'stddev' ? 'stddev_samp' : fn}(${sql})`;
  // With infinite values of both signs DuckDB's result is NaN, and the standard deviation an error: both become NULL.
  if (/^(FLOAT|DOUBLE)$/.test(type))
    return fn === 'stddev'
      ? `CASE WHEN bool_or(isinf(${sql})) THEN NULL ELSE ${call} FILTER (isfinite(${sql})) END`
      : `CASE WHEN isnan(${call}) THEN NULL ELSE ${call} END`;
  // Between two decimals DuckDB cuts the median to their scale: that of 4.64 and 4.65 would be 4.64.
  if (fn === 'median' && type.startsWith('DECIMAL')) return `median(CAST(${sql} AS DOUBLE))`;
  // Parquet has no 128-bit integers: DuckDB would write the sum as a double.
  return fn === 'sum' && /INT(EGER)?$/.test(type) ? `CAST(${call} AS DECIMAL(38, 0))` : call;
}

/**
 * Finds a column by its name, or a field of a struct by its path such as `user.addr.city`. The longest name wins: a column that is
 * called `a.b` is found before the field b of the column a.
 *
 * @throws DatasetError unknown_column, with the columns, or the fields of the level that lacks one
 */
function resolve(where: string, path: string, columns: readonly Operand[]): Operand {
  let fields = columns;
  for (let rest = path, parent = ''; ;) {
    const isNext = ({ name }: Operand) => rest === name || rest.startsWith(`${name}.`);
    const [found] = fields.filter(isNext).sort((one, other) => other.name.length - one.name.length);
    const known = fields.map(({ name }) => name);
    if (!found) throw unknownColumn(where, path, known, parent);
    if (rest === found.name) return found;
    rest = rest.slice(found.name.length + 1);
    parent = path.slice(0, path.length - rest.length - 1);
    fields = fieldsOf(found);
  }
}

/** Lists and maps have no fields: their elements differ from row to row. */
function fieldsOf({ type, sql }: Operand): Operand[] {
  if (type.typeId !== DuckDBTypeId.STRUCT) return [];
  const field = (name: string) => `struct_extract(${sql}, ${quotedString(name)})`;
  return type.entryNames.map((name, at) => ({ name, type: type.entryTypes[at]!, sql: field(name) }));
}

const COMPARISONS = { eq: '=', ne: '<>', lt: '<', le: '<=', gt: '>', ge: '>=' } as const;
const CLOCK = String.raw`([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?`;
const ZONE = String.raw`(Z|[+-]\d\d(:?\d\d)?)`;

/** Types, the texts that a filter's value may have for each, and the words for them. Values of other types are compared as text. */
const LITERALS: [type: RegExp, text: RegExp, expected: string][] = [
  [NUMERIC, /^[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?$/i, 'a number'],
  [/^BOOLEAN$/, /^(true|false)$/i, 'true or false'],
  [/^UUID$/, /^[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i, 'a UUID'],
  [/^TIME$/, new RegExp(`^${CLOCK}$`), 'a time such as 14:30:00'],
  [
    /^(DATE|TIMESTAMP.*)$/,
    new RegExp(String.raw`^\d{4}-\d\d-\d\d([T ]${CLOCK}${ZONE}?)?$`),
    'an ISO 8601 date or time such as 2001-01-31 or 2001-01-31T14:30:00',
  ],
];

/** @throws DatasetError unknown_column, bad_filter */
export function filterCondition(
  { column, op, value }: Filter,
  where: string,
  columns: readonly Operand[],
): string {
  const operand = resolve(`${where}.column`, column, columns);
  const type = String(operand.type);
  const bad = (expected: string, came: unknown = value) => {
    const shown = came === undefined ? 'none' : JSON.stringify(came).slice(0, 200);
    return new DatasetError('bad_filter', `${where}.value: expected ${expected}; got ${shown}`);
  };
  const [, pattern, expected] = LITERALS.find(([types]) => types.test(type)) ?? [];
  const literal = (one: string | number | boolean) => {
    if (!pattern) return `CAST(${textOf(String(one))} AS VARCHAR)`;
    const text = String(one).trim();
    const isDate = /^\d{4}-/.test(text);
    const of = `for ${JSON.stringify(column)} (${type})`;
    if (!pattern.test(text) || (isDate ? !isDay(text.slice(0, 10)) : Math.abs(Number(text)) === Infinity))
      throw bad(`${expected} ${of}`, one);
    if (/^TIMESTAMP(_.*)?$/.test(type) && new RegExp(`${ZONE}$`).test(text.slice(10)))
      throw bad(`a date or time without a time zone, since the column has none ${of}`, one);
    return `CAST(${textOf(text)} AS ${literalType(text, type)})`;
  };
  if (op === 'is_null' || op === 'not_null') {
    if (value !== undefined) throw bad(`no value with ${op}`);
    return `${operand.sql} IS ${op === 'is_null' ? '' : 'NOT '}NULL`;
  }
  const sql = pattern && op !== 'contains' ? operand.sql : `CAST(${operand.sql} AS VARCHAR)`;
  if (op === 'in') {
    if (!Array.isArray(value)) throw bad('a list with in');
    return `${sql} IN (${value.map(literal).join(', ')})`;
  }
  if (op === 'contains') {
    if (typeof value !== 'string') throw bad('text with contains');
    return `contains(${sql}, ${textOf(value)})`;
  }
  if (value === undefined || Array.isArray(value))
    throw bad(`one value with ${op} (is_null and not_null look for missing ones)`);
  return `${sql} ${COMPARISONS[op]} ${literal(value)}`;
}

/** Type of a value that keeps its meaning: a fraction that is compared with integers stays one. */
function literalType(text: string, type: string): string {
  if (isNumeric(type)) {
    const integer = /^[-+]?(\d{1,38})$/.exec(text)?.[1];
    if (type === 'FLOAT' || integer === undefined) return type === 'FLOAT' ? type : 'DOUBLE';
    return integer.length <= 18 ? 'BIGINT' : 'HUGEINT';
  }
  if (type === 'DATE') return text.length === 10 ? 'DATE' : 'TIMESTAMP';
  if (!/^TIMESTAMP(_.*)?$/.test(type)) return type;
  const year = Number(text.slice(0, 4));
  const hasNanoseconds = type === 'TIMESTAMP_NS' && /[.]\d{7,}$/.test(text) && year > 1677 && year < 2262;
  return hasNanoseconds ? type : 'TIMESTAMP';
}

/** SQL's parser ends a text at NUL. */
function textOf(text: string): string {
  return `(${quotedString(text).replaceAll('\0', "' || chr(0) || '")})`;
}

/** Whether the calendar has a day: DuckDB refuses 30 February only when the query runs. */
function isDay(day: string): boolean {
  const time = Date.parse(day);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day) && !day.startsWith('0000');
}
