/** Converts the structured query to SQL. Of the caller's text it has only quoted strings, and quoted names that were checked. */
import { DuckDBTypeId, quotedIdentifier, quotedString } from '@duckdb/node-api';
import type { DuckDBType } from '@duckdb/node-api';
import type { Aggregate, Column, DatasetQuery, Filter } from '../../tools/analyze_dataset/index.js';
import { DatasetError, unknownColumn } from './errors.js';

export interface CompiledQuery {
  /** One SELECT, without its order. */
  sql: string;
  /** ORDER BY clause, or empty. */
  orderBy: string;
  /** Whether rows are grouped or aggregated, so the result is likely small and costly to compute twice. */
  grouped: boolean;
}

export interface TypedColumn extends Column {
  duckType: DuckDBType;
}

/** A column, or a field of one. */
interface Operand extends TypedColumn {
  sql: string;
}

const NUMERIC = /^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|FLOAT|DOUBLE|BIGNUM|DECIMAL\(.*\))$/;
const INTEGER = /INT(EGER)?$/;

export function isNumeric(type: string): boolean {
  return NUMERIC.test(type);
}

/** @throws DatasetError unknown_column, bad_filter, bad_aggregate */
export function compileQuery(query: DatasetQuery, source: string, columns: TypedColumn[]): CompiledQuery {
  const conditions = (query.filters ?? []).map((filter, index) =>
    filterCondition(filter, `filters[${index}]`, columns),
  );
  const rows = `${source}${conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`}`;
  const groupBy = query.group_by ?? [];
  const counted: Aggregate[] = groupBy.length > 0 ? [{ fn: 'count' }] : [];
  const aggregates = query.aggregates?.length ? query.aggregates : counted;
  if (groupBy.length === 0 && aggregates.length === 0) {
    const orderBy = orderOf(query, (where, name) => resolve(where, name, columns).sql);
    return { sql: `SELECT * FROM ${rows}`, orderBy, grouped: false };
  }
  const outputs = [...groupBy, ...aggregates.map(nameOf)];
  const twin = outputs.find((name, at) =>
    outputs.slice(0, at).some((one) => one.toLowerCase() === name.toLowerCase()),
  );
  if (twin !== undefined)
    throw new DatasetError(
      'bad_aggregate',
      `group_by, aggregates: two columns of the result would be called ${JSON.stringify(twin)}; name one with "as"`,
    );
  const selected = [
    ...groupBy.map((name, index) => resolve(`group_by[${index}]`, name, columns).sql),
    ...aggregates.map((aggregate, index) => aggregateCall(aggregate, `aggregates[${index}]`, columns)),
  ].map((sql, index) => `${sql} AS ${quotedIdentifier(outputs[index]!)}`);
  // Grouping by position, over a subquery: an aggregate's name can't be resolved to a column of the file.
  const positions = groupBy.map((_, index) => index + 1).join(', ');
  const grouping = groupBy.length === 0 ? '' : ` GROUP BY ${positions}`;
  const orderBy = orderOf(query, (where, name) => {
    if (!outputs.includes(name)) throw unknownColumn(where, name, outputs);
    return quotedIdentifier(name);
  });
  return {
    sql: `SELECT ${selected.join(', ')} FROM (SELECT * FROM ${rows})${grouping}`,
    orderBy,
    grouped: true,
  };
}

/** Groups are also ordered by their keys, so the same call gives the same rows every time. */
function orderOf({ order_by: orders = [], group_by: groupBy = [] }: DatasetQuery, sqlOf: SqlOf): string {
  const terms = orders.map(
    ({ column, direction }, index) =>
      `${sqlOf(`order_by[${index}].column`, column)} ${direction === 'desc' ? 'DESC' : 'ASC'} NULLS LAST`,
  );
  for (const name of groupBy)
    if (!orders.some(({ column }) => column === name)) terms.push(`${quotedIdentifier(name)} ASC NULLS LAST`);
  return terms.length === 0 ? '' : ` ORDER BY ${terms.join(', ')}`;
}

type SqlOf = (where: string, name: string) => string;

function nameOf({ fn, column, as }: Aggregate): string {
  return as ?? (column === undefined ? fn : `${fn}_${column}`);
}

function aggregateCall({ fn, column }: Aggregate, where: string, columns: TypedColumn[]): string {
  const bad = (fault: string) => new DatasetError('bad_aggregate', `${where}.column: ${fn} ${fault}`);
  if (column === undefined) {
    if (fn === 'count') return 'count(*)';
    throw bad('needs a column; none came');
  }
  const { type, sql } = resolve(`${where}.column`, column, columns);
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
  return fn === 'sum' && INTEGER.test(type) ? `CAST(${call} AS DECIMAL(38, 0))` : call;
}

/**
 * Finds a column by its name, or a field of a struct by its path such as `user.addr.city`. The longest name wins: a column that is
 * called `a.b` is found before the field b of the column a.
 *
 * @throws DatasetError unknown_column, with the columns, or the fields of the level that lacks one
 */
function resolve(where: string, path: string, columns: readonly TypedColumn[]): Operand {
  let fields: Operand[] = columns.map((column) => ({ ...column, sql: quotedIdentifier(column.name) }));
  for (let rest = path, parent = ''; ;) {
    const isNext = ({ name }: Operand) => rest === name || rest.startsWith(`${name}.`);
    const [found] = fields.filter(isNext).sort((one, other) => other.name.length - one.name.length);
    if (!found)
      throw unknownColumn(
        where,
        path,
        fields.map(({ name }) => name),
        parent,
      );
    if (rest === found.name) return found;
    rest = rest.slice(found.name.length + 1);
    parent = path.slice(0, path.length - rest.length - 1);
    fields = fieldsOf(found);
  }
}

/** Lists and maps have no fields: their elements differ from row to row. */
function fieldsOf({ duckType, sql }: Operand): Operand[] {
  if (duckType.typeId !== DuckDBTypeId.STRUCT) return [];
  const { entryNames, entryTypes } = duckType;
  return entryNames.map((name, index) => {
    const of = entryTypes[index]!;
    return { name, type: String(of), duckType: of, sql: `struct_extract(${sql}, ${quotedString(name)})` };
  });
}

const COMPARISONS = { eq: '=', ne: '<>', lt: '<', le: '<=', gt: '>', ge: '>=' } as const;

/** @throws DatasetError unknown_column, bad_filter */
export function filterCondition(filter: Filter, where: string, columns: readonly TypedColumn[]): string {
  const { op, value } = filter;
  const { sql, type } = resolve(`${where}.column`, filter.column, columns);
  const bad = (expected: string, came: unknown = value) => {
    const shown = came === undefined ? 'none' : JSON.stringify(came).slice(0, 200);
    return new DatasetError('bad_filter', `${where}.value: expected ${expected}; got ${shown}`);
  };
  const literal = (one: string | number | boolean) =>
    literalOf(one, type, (what) => bad(`${what} for ${JSON.stringify(filter.column)} (${type})`, one));
  // Values that are neither numbers, times nor booleans are compared as text.
  const isOwn = isNumeric(type) || /^(VARCHAR|BOOLEAN|UUID|DATE|TIME|TIMESTAMP.*)$/.test(type);
  const operand = isOwn ? sql : `CAST(${sql} AS VARCHAR)`;
  if (op === 'is_null' || op === 'not_null') {
    if (value !== undefined) throw bad(`no value with ${op}`);
    return `${sql} IS ${op === 'is_null' ? '' : 'NOT '}NULL`;
  }
  if (op === 'in') {
    if (!Array.isArray(value)) throw bad('a list with in');
    return `${operand} IN (${value.map(literal).join(', ')})`;
  }
  if (op === 'contains') {
    if (typeof value !== 'string') throw bad('text with contains');
    return `contains(CAST(${sql} AS VARCHAR), ${textOf(value)})`;
  }
  if (value === undefined || Array.isArray(value))
    throw bad(`one value with ${op} (is_null and not_null look for missing ones)`);
  return `${operand} ${COMPARISONS[op]} ${literal(value)}`;
}

/** SQL's parser ends a text at NUL. */
function textOf(text: string): string {
  return `(${quotedString(text).replaceAll('\0', "' || chr(0) || '")})`;
}

/** A value, cast to a type that keeps its meaning: a fraction that is compared with integers stays one. */
function literalOf(
  value: string | number | boolean,
  type: string,
  bad: (expected: string) => DatasetError,
): string {
  const text = String(value).trim();
  const as = (castTo: string) => `CAST(${textOf(text)} AS ${castTo})`;
  const expect = (isSo: boolean, expected: string) => {
    if (!isSo) throw bad(expected);
  };
  if (isNumeric(type)) {
    const isNumber = typeof value !== 'boolean' && /^[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?$/i.test(text);
    expect(isNumber && Number.isFinite(Number(text)), 'a number');
    if (type === 'FLOAT') return as('FLOAT');
    return as(/^[-+]?\d{1,18}$/.test(text) ? 'BIGINT' : /^[-+]?\d{1,38}$/.test(text) ? 'HUGEINT' : 'DOUBLE');
  }
  if (type === 'BOOLEAN') expect(/^(true|false)$/i.test(text), 'true or false');
  else if (type === 'UUID') expect(/^[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i.test(text), 'a UUID');
  else if (type === 'TIME') expect(new RegExp(`^${CLOCK}$`).test(text), 'a time such as 14:30:00');
  else if (type === 'DATE' || type.startsWith('TIMESTAMP')) {
    expect(isIsoTime(text), 'an ISO 8601 date or time such as 2001-01-31 or 2001-01-31T14:30:00');
    if (type.includes('TIME ZONE')) return as('TIMESTAMPTZ');
    if (type === 'DATE') return as(text.length === 10 ? 'DATE' : 'TIMESTAMP');
    const hasZone = new RegExp(`${ZONE}$`).test(text.slice(10));
    expect(!hasZone, 'a date or time without a time zone, since the column has none');
    const year = Number(text.slice(0, 4));
    return as(
      type === 'TIMESTAMP_NS' && /[.]\d{7,}$/.test(text) && year > 1677 && year < 2262 ? type : 'TIMESTAMP',
    );
  } else return `CAST(${textOf(String(value))} AS VARCHAR)`;
  return as(type);
}

const CLOCK = String.raw`([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?`;
const ZONE = String.raw`(Z|[+-]\d\d(:?\d\d)?)`;
const ISO_TIME = new RegExp(String.raw`^(\d{4}-\d\d-\d\d)([T ]${CLOCK}${ZONE}?)?$`);

/** Also checks the calendar: DuckDB refuses 30 February only when the query runs. */
function isIsoTime(text: string): boolean {
  const day = ISO_TIME.exec(text)?.[1];
  const time = Date.parse(`${day}T00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day!) && !text.startsWith('0000');
}
