import { isNumeric } from './columns.js';
import { DatasetError } from './errors.js';
import { resolveOperand } from './field-paths.js';
import type { Operand } from './field-paths.js';
import type { Column, Filter } from '../../tools/analyze_dataset/index.js';

type Scalar = string | number | boolean;

const COMPARISONS = { eq: '=', ne: '<>', lt: '<', le: '<=', gt: '>', ge: '>=' } as const;
const HUGEINT_MAX = 2n ** 127n - 1n;

/**
 * One condition over a column or field. Values go to `values` as text, and the condition
 * casts them to a type from this file's closed list: the column's own where that keeps the
 * meaning (a fraction compared with an integer column stays a fraction).
 * @throws DatasetError unknown_column, bad_filter
 */
export function filterCondition(
  filter: Filter,
  where: string,
  columns: readonly Column[],
  values: string[],
): string {
  const column = resolveOperand(`${where}.column`, filter.column, columns);
  const { sql } = column;
  const bind = (value: Scalar) => {
    const { text, castTo } = typedValue(value, column, where);
    values.push(text);
    return `CAST($${values.length} AS ${castTo})`;
  };
  switch (filter.op) {
    case 'is_null':
    case 'not_null':
      if (filter.value !== undefined) throw bad(where, `no value with ${filter.op}`, filter.value);
      return `${sql} IS ${filter.op === 'is_null' ? '' : 'NOT '}NULL`;
    case 'in': {
      if (!Array.isArray(filter.value)) throw bad(where, 'a list with in', filter.value);
      return `${comparable(column)} IN (${filter.value.map(bind).join(', ')})`;
    }
    case 'contains':
      if (typeof filter.value !== 'string') throw bad(where, 'text with contains', filter.value);
      values.push(filter.value);
      return `contains(CAST(${sql} AS VARCHAR), $${values.length})`;
    default:
      if (filter.value === undefined || Array.isArray(filter.value)) {
        throw bad(
          where,
          `one value with ${filter.op} (is_null and not_null look for missing ones)`,
          filter.value,
        );
      }
      return `${comparable(column)} ${COMPARISONS[filter.op]} ${bind(filter.value)}`;
  }
}

/** Values that are neither numbers, times nor booleans are compared as text. */
function comparable({ sql, type }: Operand): string {
  const own = isNumeric(type) || /^(VARCHAR|BOOLEAN|UUID|DATE|TIME|TIMESTAMP.*)$/.test(type);
  return own ? sql : `CAST(${sql} AS VARCHAR)`;
}

function typedValue(value: Scalar, { name, type }: Column, where: string): { text: string; castTo: string } {
  const text = String(value).trim();
  const expected = (what: string) => bad(where, `${what} for ${JSON.stringify(name)} (${type})`, value);
  if (isNumeric(type)) {
    if (typeof value === 'boolean') throw expected('a number');
    return numericValue(text, type, () => expected('a number'));
  }
  if (type === 'BOOLEAN') {
    if (!/^(true|false)$/i.test(text)) throw expected('true or false');
    return { text: text.toLowerCase(), castTo: 'BOOLEAN' };
  }
  if (type === 'UUID') {
    if (!/^[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i.test(text)) throw expected('a UUID');
    return { text, castTo: 'UUID' };
  }
  if (type === 'TIME') {
    if (!/^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?$/.test(text))
      throw expected('a time such as 14:30:00');
    return { text: text.length === 5 ? `${text}:00` : text, castTo: 'TIME' };
  }
  if (type === 'DATE' || type.startsWith('TIMESTAMP')) {
    if (!isIsoTime(text))
      throw expected('an ISO 8601 date or time such as 2001-01-31 or 2001-01-31T14:30:00');
    if (type === 'DATE' && text.length === 10) return { text, castTo: 'DATE' };
    if (type.includes('TIME ZONE')) return { text, castTo: 'TIMESTAMPTZ' };
    if (type !== 'DATE' && /[Zz]$|[+-]\d\d(:?\d\d)?$/.test(text.slice(10))) {
      throw expected('a date or time without a time zone, since the column has none');
    }
    return { text, castTo: type === 'TIMESTAMP_NS' && hasNanoseconds(text) ? 'TIMESTAMP_NS' : 'TIMESTAMP' };
  }
  return { text: String(value), castTo: 'VARCHAR' };
}

function numericValue(
  text: string,
  type: string,
  expected: () => DatasetError,
): { text: string; castTo: string } {
  if (text === '' || !/^[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?$/i.test(text)) throw expected();
  if (type === 'FLOAT') return { text, castTo: 'FLOAT' };
  if (/^[-+]?\d+$/.test(text)) {
    const integer = BigInt(text);
    if (integer === BigInt.asIntN(64, integer)) return { text, castTo: 'BIGINT' };
    if (integer <= HUGEINT_MAX && integer >= -HUGEINT_MAX) return { text, castTo: 'HUGEINT' };
  }
  if (!Number.isFinite(Number(text))) throw expected();
  return { text, castTo: 'DOUBLE' };
}

/** Also checks the calendar: DuckDB refuses 30 February only when the query runs. */
function isIsoTime(text: string): boolean {
  const parts =
    /^(\d{4})-(\d\d)-(\d\d)(?:[T ]([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d(?::?\d\d)?)?)?$/.exec(
      text,
    );
  if (!parts) return false;
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  const date = new Date(Date.UTC(2000, month - 1, day));
  date.setUTCFullYear(year, month - 1, day);
  return year > 0 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

/** Whether TIMESTAMP_NS, which reaches from 1677 to 2262, is needed for the value and can hold it. */
function hasNanoseconds(text: string): boolean {
  const year = Number(text.slice(0, 4));
  return year > 1677 && year < 2262 && /[.]\d{7,9}$/.test(text);
}

function bad(where: string, expected: string, came: unknown): DatasetError {
  const shown = came === undefined ? 'none' : JSON.stringify(came).slice(0, 200);
  return new DatasetError('bad_filter', `${where}.value: expected ${expected}; got ${shown}`);
}
