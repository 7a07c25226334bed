/** Types of columns: those that keep every value as it stands in the file. A column without such a type is text. */
import { quotedIdentifier, quotedString } from '@duckdb/node-api';
import type { Column, DatasetQuery } from '../../tools/analyze_dataset/index.js';
import { unknownColumn, unreadable } from './errors.js';
import type { OnShare, Run } from './session.js';

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
  /** What the caller should know of a column of this type. */
  note?: string;
}

/** A column as the reader of its file delivers it; the first candidate that keeps all values is its type. */
export interface Delivered {
  name: string;
  read: string;
  /** Without any, the type is `read`. */
  candidates: Candidate[];
}

type Given = Pick<DatasetQuery, 'types' | 'date_format'>;

const full = (text: string, pattern: string) => `regexp_full_match(${text}, '${pattern}')`;
const isPresent = (text: string) => `${text} IS NOT NULL`;
const cast = (text: string, type: string) => `TRY_CAST(${text} AS ${type})`;
/** Significant digits: 1.50e3 and 1500.0 have the same. */
const digits = (text: string) => `trim(regexp_replace(lower(${text}), 'e.*|[-+._ ]', '', 'g'), '0')`;
const sameDigits = (text: string, type: string) =>
  `${digits(text)} = ${digits(`CAST(${cast(text, type)} AS VARCHAR)`)}`;

/** Not 007 or +43, which are codes or telephone numbers, nor 1e5, which may be a code. */
const NUMBER =
  '-?((0|[1-9][0-9]*)([.][0-9]*([eE][0-9]+)?)?|[.][0-9]+)([eE][-+][0-9]+)?|[-+]?(?i:nan|inf|infinity)';
const DAY = '[0-9]{4}-[0-9]{2}-[0-9]{2}';
const clock = (fraction: number) => `([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,${fraction}})?)?`;
const ZONE = '(Z|[+-][0-9]{2}(:?[0-9]{2})?)';
const SEPARATED = '([0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{4}|[0-9]{1,4}/[0-9]{1,2}/[0-9]{1,2})([ T].*)?';

const integer = (type: string): Candidate => ({
  type,
  keeps: (text) => `CAST(${cast(text, type)} AS VARCHAR) = trim(${text})`,
});
const moment = (type: string, pattern: string): Candidate => ({
  type,
  keeps: (text) => `(${full(text, pattern)} AND ${cast(text, type)} IS NOT NULL)`,
});
const INTEGER = integer('BIGINT');
const LONG_INTEGER = integer('DECIMAL(38,0)');
const DOUBLE: Candidate = {
  type: 'DOUBLE',
  keeps: (text) => {
    // 15 digits are kept always.
    const isShort = `strlen(${text}) <= 15 AND NOT contains(lower(${text}), 'e') AND ${isPresent(cast(text, 'DOUBLE'))}`;
    return `(${full(`trim(${text})`, NUMBER)} AND (${isShort} OR ${sameDigits(text, 'DOUBLE')}))`;
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
  const isMixed = /\bJSON(?=[,)[])/.test(type.replace(/"(?:[^"]|"")*"/g, ''));
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
      throw unreadable(`types: expected VARCHAR, BIGINT, DOUBLE or DECIMAL(18,2); got ${JSON.stringify(type)}`);
  }
  return columns.map((column) => {
    const type = Object.hasOwn(types, column.name) ? types[column.name] : undefined;
    if (type === undefined) return column;
    const keeps = (text: string) =>
      type === 'DOUBLE' ? `${cast(text, type)} IS NOT NULL` : sameDigits(text, type);
    return { ...column, read: 'VARCHAR', candidates: type === 'VARCHAR' ? [] : [{ type, keeps }] };
  });
}

/**
 * Decides types in one pass over the file.
 *
 * @param source SQL that delivers the columns
 * @param whole the same, for the pass
 * @throws DatasetError unreadable, when a type or format that the caller has given doesn't keep all values
 */
export async function typed(
  run: Run,
  columns: readonly Delivered[],
  { source, whole = source }: { source: string; whole?: string },
  given: Given,
  onShare?: OnShare,
): Promise<{ rowCount: number; columns: ColumnReading[]; empty: string[]; notes: string[] }> {
  const hasFloats = ({ read, candidates }: Delivered) =>
    /^(FLOAT|DOUBLE)$/.test(read) || candidates.some(({ type }) => type === 'DOUBLE');
  const measures = columns.flatMap((column) => {
    const name = quotedIdentifier(column.name);
    return [
      ...(column.candidates.length > 0 ? [`count(${name})`] : []),
      ...column.candidates.map(({ keeps }) => `count(*) FILTER (${keeps(name)})`),
      ...(hasFloats(column) ? [`count(*) FILTER (isnan(${cast(name, 'DOUBLE')}))`] : []),
    ];
  });
  const counted = await run(`SELECT ${['count(*)', ...measures].join(', ')} FROM ${whole}`, onShare);
  const [rowCount = 0, ...counts] = counted.getRows()[0]!.map(Number);
  const notes: string[] = [];
  const empty: string[] = [];
  const readings: ColumnReading[] = [];
  for (const column of columns) {
    const { name, read, candidates } = column;
    const shown = `Column ${JSON.stringify(name)}`;
    const present = candidates.length > 0 ? counts.shift()! : 0;
    const kept = counts.splice(0, candidates.length);
    const nan = hasFloats(column) ? counts.shift()! : 0;
    const chosen = candidates.find((_, at) => present > 0 && kept[at] === present);
    const type = chosen?.type ?? (candidates.length > 0 ? 'VARCHAR' : read);
    const hasNan = nan > 0 && /^(FLOAT|DOUBLE)$/.test(type);
    readings.push({
      name,
      type,
      read: chosen?.isNative ? type : read,
      ...(chosen?.dateFormat !== undefined && { dateFormat: chosen.dateFormat }),
      ...(hasNan && { hasNan }),
    });
    if (hasNan) notes.push(`${shown}: ${nan} NaN ${nan === 1 ? 'is' : 'are'} missing.`);
    if (chosen?.note !== undefined) notes.push(`${shown} ${chosen.note}`);
    if (present === 0 && candidates.length > 0) empty.push(name);
    if (chosen || present === 0) continue;
    const isGiven = Object.hasOwn(given.types ?? {}, name);
    const isLikely = (at: number) => kept[at]! * 2 >= present && candidates[at]!.type !== 'VARCHAR';
    const likely = candidates.find((_, at) => isGiven || isLikely(at));
    if (!likely) continue;
    const changed = `${likely.dateFormat ?? likely.type} would change ${await changedBy(likely, name, source, run)}`;
    if (isGiven) throw unreadable(`types: column ${JSON.stringify(name)} can't be read exactly: ${changed}`);
    notes.push(`${shown} is text: ${changed}. types, null_values or date_format read it otherwise.`);
  }
  const { date_format: format } = given;
  if (format !== undefined && rowCount > 0 && !readings.some(({ dateFormat }) => dateFormat !== undefined))
    throw unreadable(`date_format: expected the format of all values of a column; got ${JSON.stringify(format)}`);
  return { rowCount, columns: readings, empty, notes };
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
