/** Types of columns: those that keep every value as it stands in the file. A column without such a type is text. */
import { quotedIdentifier, quotedString } from '@duckdb/node-api';
import type { Column, DatasetQuery } from '../../tools/analyze_dataset/index.js';
import { unknownColumn, unreadable } from './errors.js';
import type { Run } from './session.js';

/** How a column is read. A plain value, passed from call to call. */
export interface ColumnReading extends Column {
  /** Type in which the file's reader delivers it; a cast does the rest. */
  read: string;
  /** Format of its dates, for strptime. */
  dateFormat?: string;
  /** Whether it has NaN, which counts as missing. */
  hasNan?: true;
}

interface Candidate {
  type: string;
  /** SQL: whether the type keeps a value, which is delivered as text. */
  keeps: (text: string) => string;
  dateFormat?: string;
  /** Whether the reader has to convert to it: there is no cast from text. */
  isNative?: true;
  /** Note for the caller on a column of this type. */
  note?: string;
}

/** A column as the reader of its file delivers it; its type is the first candidate that keeps all values, or text. */
export interface Delivered {
  name: string;
  read: string;
  candidates: Candidate[];
}

type Given = Pick<DatasetQuery, 'types' | 'date_format'>;

const full = (text: string, pattern: string) => `regexp_full_match(${text}, '${pattern}')`;
const isPresent = (text: string) => `${text} IS NOT NULL`;
const cast = (text: string, type: string) => `TRY_CAST(${text} AS ${type})`;
/** Unlike AND, it computes the second condition only where the first one holds. */
const when = (condition: string, then: string, otherwise = 'FALSE') =>
  `CASE WHEN ${condition} THEN ${then} ELSE ${otherwise} END`;
/** Significant digits: 1.50e3 and 1500.0 have the same. */
const digits = (text: string) => `trim(regexp_replace(lower(${text}), 'e.*|[-+._ ]', '', 'g'), '0')`;
const sameDigits = (text: string, type: string) => {
  const shown = `CAST(${cast(text, type)} AS VARCHAR)`;
  return when(`${shown} = ${text}`, 'TRUE', `${digits(text)} = ${digits(shown)}`);
};

/** Not 007 or +43, which are codes or telephone numbers, nor 1e5, which may be a code. */
const NUMBER =
  '-?((0|[1-9][0-9]*)([.][0-9]*([eE][0-9]+)?)?|[.][0-9]+)([eE][-+][0-9]+)?|[-+]?(?i:nan|inf|infinity)';
const DAY = '[0-9]{4}-[0-9]{2}-[0-9]{2}';
const clock = (fraction: number) => `([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,${fraction}})?)?`;
const ZONE = '(Z|[+-][0-9]{2}(:?[0-9]{2})?)';
const SEPARATED = '([0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{4}|[0-9]{1,4}/[0-9]{1,2}/[0-9]{1,2})([ T].*)?';

const moment = (type: string, pattern: string): Candidate => ({
  type,
  keeps: (text) => when(full(text, pattern), isPresent(cast(text, type))),
});
const INTEGER: Candidate = {
  type: 'BIGINT',
  keeps: (text) => `CAST(${cast(text, 'BIGINT')} AS VARCHAR) = trim(${text})`,
};
// Not by a cast: DuckDB takes 0.2 ms for that of a fraction.
const LONG_INTEGER: Candidate = {
  type: 'DECIMAL(38,0)',
  keeps: (text) => full(`trim(${text})`, '0|-?[1-9][0-9]{0,37}'),
};
const DOUBLE: Candidate = {
  type: 'DOUBLE',
  keeps: (text) => {
    // 15 digits are kept always.
    const isShort = `strlen(${text}) <= 15 AND NOT contains(lower(${text}), 'e')`;
    const isKept = when(isShort, isPresent(cast(text, 'DOUBLE')), sameDigits(text, 'DOUBLE'));
    return when(full(`trim(${text})`, NUMBER), isKept);
  },
};
const BOOLEAN: Candidate = { type: 'BOOLEAN', keeps: (text) => `lower(${text}) IN ('true', 'false')` };
const TIMES: Candidate[] = [
  moment('DATE', DAY),
  moment('TIME', clock(6)),
  moment('TIMESTAMP', `${DAY}[T ]${clock(6)}`),
  moment('TIMESTAMP_NS', `${DAY}[T ]${clock(9)}`),
  moment('TIMESTAMP WITH TIME ZONE', `${DAY}[T ]${clock(6)}${ZONE}`),
  {
    type: 'VARCHAR',
    keeps: (text) => full(text, SEPARATED),
    note: 'is text: its dates are not ISO 8601. date_format reads them, such as date_format: "%d/%m/%Y".',
  },
];
const MIXTURE: Candidate = {
  type: 'VARCHAR',
  keeps: isPresent,
  note: 'mixes types of values: all are text without quotes, so "1" and 1 are the same; lists and objects are JSON text.',
};

/** @param sniffed types that DuckDB has found in the first rows of the files */
export function deliveredByCsv(name: string, sniffed: readonly string[], given: Given): Delivered {
  // Text is tried too, for the note on values that aren't numbers or times like most of their column.
  const likely: Record<string, Candidate[]> = {
    BIGINT: [INTEGER, LONG_INTEGER, DOUBLE],
    DOUBLE: [LONG_INTEGER, DOUBLE],
    BOOLEAN: [BOOLEAN],
    VARCHAR: [DOUBLE, ...TIMES],
  };
  const candidates = new Set([...dates(given), ...sniffed.flatMap((type) => likely[type] ?? TIMES)]);
  return { name, read: 'VARCHAR', candidates: [...candidates] };
}

/** @param type that DuckDB has found in all rows */
export function deliveredByJson({ name, type }: Column, given: Given): Delivered {
  const asText = (...candidates: Candidate[]): Delivered => ({ name, read: 'VARCHAR', candidates });
  if (/^(U?BIGINT|BOOLEAN)$/.test(type)) return asText({ type, keeps: isPresent });
  if (type === 'JSON') return asText(MIXTURE);
  if (type === 'HUGEINT') return asText(LONG_INTEGER);
  if (type === 'DOUBLE') return asText({ type, keeps: (text) => sameDigits(text, type) });
  if (!/^(STRUCT|MAP)\(|\]$/.test(type)) return asText(...dates(given), ...TIMES);
  // Within lists and objects strings stay as they are: DuckDB would drop the offset of a time, and keep JSON's quotes of a mixture.
  // A field's name is in quotes, or followed by a space.
  const nested = type.replace(
    /("(?:[^"]|"")*")|\b(?:JSON|UUID|DATE|TIME|TIMESTAMP)(?=[,)[]|$)/g,
    (_, quoted?: string) => quoted ?? 'VARCHAR',
  );
  const note = 'has fields that mix types of values, or have none: they are text without quotes.';
  const isMixed = /\bJSON(?=[,)[]|$)/.test(type.replace(/"(?:[^"]|"")*"/g, ''));
  return asText({ type: nested, keeps: isPresent, isNative: true, ...(isMixed && { note }) });
}

function dates({ date_format: format }: Given): Candidate[] {
  if (format === undefined) return [];
  const isTime = /%[HIcX]/.test(format);
  const type = /%[zZ]/.test(format) ? 'TIMESTAMP WITH TIME ZONE' : isTime ? 'TIMESTAMP' : 'DATE';
  // %Y takes 24 for the year 24.
  const keeps = (text: string) => `year(try_strptime(${text}, ${quotedString(format)})) >= 1000`;
  return [{ type, keeps, dateFormat: format }];
}

/** Gives columns the types that the caller wants. @throws DatasetError unknown_column, unreadable */
export function withGivenTypes(columns: Delivered[], { types = {} }: Given): Delivered[] {
  const names = columns.map(({ name }) => name);
  for (const [name, type] of Object.entries(types)) {
    if (!names.includes(name)) throw unknownColumn('types', name, names);
    // It becomes SQL.
    if (!/^(VARCHAR|BIGINT|DOUBLE|DECIMAL\(\d{1,2}, ?\d{1,2}\))$/.test(type))
      throw unreadable(
        `types: expected VARCHAR, BIGINT, DOUBLE or DECIMAL(18,2); got ${JSON.stringify(type)}`,
      );
  }
  return columns.map((column) => {
    const type = Object.hasOwn(types, column.name) ? types[column.name] : undefined;
    if (type === undefined) return column;
    const keeps = (text: string) =>
      type === 'DOUBLE' ? `${cast(text, type)} IS NOT NULL` : sameDigits(text, type);
    return { ...column, read: 'VARCHAR', candidates: type === 'VARCHAR' ? [] : [{ type, keeps }] };
  });
}

const NAN = when('strlen(value) <= 8', `isnan(${cast('value', 'DOUBLE')})`);

/**
 * Decides types in one pass over the file. Its rows are turned into values, so that each predicate is planned once for all columns.
 *
 * @param source SQL that delivers the columns, all as text
 * @param whole the same, for the pass
 * @throws DatasetError unreadable, when a type or format that the caller has given doesn't keep all values
 */
export async function typed(
  run: Run,
  columns: readonly Delivered[],
  { source, whole = source }: { source: string; whole?: string },
  given: Given,
): Promise<{ rowCount: number; columns: ColumnReading[]; empty: string[]; notes: string[] }> {
  const predicatesOf = columns.map(({ candidates }) => [
    ...candidates.map(({ keeps }) => keeps('value')),
    NAN,
  ]);
  const predicates = [...new Set(predicatesOf.flat())];
  const masks = predicatesOf.map((own) => own.reduce((bits, one) => bits + 2 ** predicates.indexOf(one), 0));
  const names = columns.map(({ name }) => quotedIdentifier(name)).join(', ');
  const measures = predicates.map((one, at) => `count(*) FILTER (${when(`mask & ${2 ** at} <> 0`, one)})`);
  const slots = `unnest(range(${columns.length})) AS slot, unnest([${masks.join(', ')}]) AS mask`;
  const counted = await run(
    `SELECT slot, count(*), count(value), ${measures.join(', ')} FROM (SELECT ${slots}, unnest([${names}]) AS value FROM ${whole}) GROUP BY slot`,
  );
  const counts = new Map(
    counted.getRows().map(([slot, ...rest]): [number, number[]] => [Number(slot), rest.map(Number)]),
  );
  const rowCount = counts.get(0)?.[0] ?? 0;
  const notes: string[] = [];
  const empty: string[] = [];
  const readings: ColumnReading[] = [];
  for (const [index, { name, read, candidates }] of columns.entries()) {
    const [, present = 0, ...kept] = counts.get(index) ?? [];
    const countOf = (predicate: string) => kept[predicates.indexOf(predicate)] ?? 0;
    const shown = `Column ${JSON.stringify(name)}`;
    const chosen = candidates.find(({ keeps }) => present > 0 && countOf(keeps('value')) === present);
    const type = chosen?.type ?? 'VARCHAR';
    const nan = type === 'DOUBLE' ? countOf(NAN) : 0;
    readings.push({
      name,
      type,
      read: chosen?.isNative ? type : read,
      ...(chosen?.dateFormat !== undefined && { dateFormat: chosen.dateFormat }),
      ...(nan > 0 && { hasNan: true as const }),
    });
    if (nan > 0) notes.push(nanNote(name, nan));
    if (chosen?.note !== undefined) notes.push(`${shown} ${chosen.note}`);
    if (present === 0) empty.push(name);
    if (chosen || present === 0) continue;
    const isGiven = Object.hasOwn(given.types ?? {}, name);
    const isLikely = ({ keeps, type: to }: Candidate) =>
      to !== 'VARCHAR' && countOf(keeps('value')) * 2 >= present;
    const likely = candidates.find((candidate) => isGiven || isLikely(candidate));
    if (!likely) continue;
    const changed = `${likely.dateFormat ?? likely.type} would change ${await changedBy(likely, name, source, run)}`;
    if (isGiven) throw unreadable(`types: column ${JSON.stringify(name)} can't be read exactly: ${changed}`);
    notes.push(`${shown} is text: ${changed}. types, null_values or date_format read it otherwise.`);
  }
  const { date_format: format } = given;
  if (format !== undefined && rowCount > 0 && !readings.some(({ dateFormat }) => dateFormat !== undefined))
    throw unreadable(
      `date_format: expected the format of all values of a column; got ${JSON.stringify(format)}`,
    );
  return { rowCount, columns: readings, empty, notes };
}

export function nanNote(name: string, count: number): string {
  return `Column ${JSON.stringify(name)}: ${count} NaN ${count === 1 ? 'is' : 'are'} missing.`;
}

/** A value that the type doesn't keep, as it stands in the file. */
async function changedBy({ keeps }: Candidate, name: string, source: string, run: Run): Promise<string> {
  const column = quotedIdentifier(name);
  const odd = `${column} IS NOT NULL AND (${keeps(column)}) IS NOT TRUE`;
  const found = await run(`SELECT left(${column}, 40) FROM ${source} WHERE ${odd} LIMIT 1`);
  return JSON.stringify(found.getRows()[0]?.[0] ?? '');
}

/** SQL that converts columns from the types in which `source` delivers them. */
export function convertedSource(source: string, columns: readonly ColumnReading[]): string {
  const replaced = columns.flatMap(({ name, type, read, dateFormat, hasNan }) => {
    const column = quotedIdentifier(name);
    let value = column;
    if (dateFormat !== undefined) value = `strptime(${value}, ${quotedString(dateFormat)})`;
    if (read !== type) value = `CAST(${value} AS ${type})`;
    // Not nullif: from Parquet's statistics, which leave NaN out, DuckDB concludes that no value equals NaN.
    if (hasNan) value = `CASE WHEN isnan(${value}) THEN NULL ELSE ${value} END`;
    return value === column ? [] : [`${value} AS ${column}`];
  });
  return replaced.length === 0 ? source : `(SELECT * REPLACE (${replaced.join(', ')}) FROM ${source})`;
}
