/** Types of columns: those that keep every value as it stands in the file. A column without such a type is text. */
import { quotedIdentifier, quotedString } from '@duckdb/node-api';
import type { Column, DatasetQuery } from '../../tools/analyze_dataset/index.js';
import { unknownColumn, unreadable } from './errors.js';
import type { Run } from './session.js';

/** How a column is read. A plain value, passed from call to call. */
export interface ColumnReading extends Column {
  /** Type in which the file's reader delivers it. */
  read: string;
  /** SQL of its value, from what the reader delivers. */
  value: string;
}

/** A column as its file delivers it. */
export interface Delivered {
  name: string;
  /** Types that it may have: it gets the first that keeps all values, or is text. */
  types: readonly string[];
  /** The only type that it may have, and SQL of whether that keeps a `value`. */
  only?: { type: string; keeps: string };
  /** Whether the reader has to convert to its type: there is no cast from text. */
  isNested?: boolean;
  /** Note for the caller, if it has values. */
  note?: string;
}

type Given = Pick<DatasetQuery, 'types' | 'date_format'>;

const is = (pattern: string) => `regexp_full_match(value, '${pattern}')`;
const fits = (type: string) => `TRY_CAST(value AS ${type}) IS NOT NULL`;
/** Unlike AND, it computes the second condition only where the first one holds. */
const when = (condition: string, then: string, otherwise = 'FALSE') =>
  `CASE WHEN ${condition} THEN ${then} ELSE ${otherwise} END`;
/** Significant digits: 1.50e3 and 1500.0 have the same. */
const digits = (text: string) => `trim(regexp_replace(lower(${text}), 'e.*|[-+._ ]', '', 'g'), '0')`;
const keepsDigits = (type: string) => {
  const shown = `CAST(TRY_CAST(value AS ${type}) AS VARCHAR)`;
  return when(`${shown} = value`, 'TRUE', `${digits('value')} = ${digits(shown)}`);
};

/** Name of the kind of dates that only `date_format` reads. */
const OTHER_DATE = 'date_format';
const TIMES = ['DATE', 'TIME', 'TIMESTAMP', 'TIMESTAMP_NS', 'TIMESTAMP WITH TIME ZONE', OTHER_DATE];
const DAY = '[0-9]{4}-[0-9]{2}-[0-9]{2}';
const clock = (fraction: number) => `([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,${fraction}})?)?`;
const MOMENT = `${DAY}[T ]${clock(6)}`;
const LONG = ' *-?[1-9][0-9]{15,37} *';
const NAN = ' *[-+]?(?i:nan) *';

/** Kinds of texts: pattern, the types that keep them, and SQL of what else has to hold. The first that a text fits counts. */
const KINDS: [pattern: string, types: readonly string[], condition?: string][] = [
  [' *(0|-?[1-9][0-9]{0,14}) *', ['BIGINT', 'DECIMAL(38,0)', 'DOUBLE']],
  [LONG, ['BIGINT', 'DECIMAL(38,0)', 'DOUBLE'], when(fits('BIGINT'), keepsDigits('DOUBLE'))],
  [LONG, ['BIGINT', 'DECIMAL(38,0)'], fits('BIGINT')],
  [LONG, ['DECIMAL(38,0)', 'DOUBLE'], keepsDigits('DOUBLE')],
  [LONG, ['DECIMAL(38,0)']],
  [
    // Not 007 or +43, which are codes or telephone numbers, nor 1e5, which may be a code.
    ' *-?((0|[1-9][0-9]*)([.][0-9]*([eE][0-9]+)?)?|[.][0-9]+)([eE][-+][0-9]+)? *',
    ['DOUBLE'],
    // 15 digits are kept always.
    when(`strlen(value) <= 15 AND NOT contains(lower(value), 'e')`, fits('DOUBLE'), keepsDigits('DOUBLE')),
  ],
  [NAN, ['DOUBLE']],
  [' *[-+]?(?i:inf|infinity) *', ['DOUBLE']],
  ['(?i:true|false)', ['BOOLEAN']],
  [DAY, ['DATE'], fits('DATE')],
  [clock(6), ['TIME'], fits('TIME')],
  [MOMENT, ['TIMESTAMP', 'TIMESTAMP_NS'], fits('TIMESTAMP_NS')],
  [MOMENT, ['TIMESTAMP'], fits('TIMESTAMP')],
  [`${DAY}[T ]${clock(9)}`, ['TIMESTAMP_NS'], fits('TIMESTAMP_NS')],
  [`${MOMENT}(Z|[+-][0-9]{2}(:?[0-9]{2})?)`, ['TIMESTAMP WITH TIME ZONE'], fits('TIMESTAMP WITH TIME ZONE')],
  ['([0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{4}|[0-9]{1,4}/[0-9]{1,2}/[0-9]{1,2})([ T].*)?', [OTHER_DATE]],
];
const NAN_KIND = KINDS.findIndex(([pattern]) => pattern === NAN);
/** Other kinds of values. KEPT is for columns that may have only one type. */
const [MISSING, KEPT, OTHER] = [-1, -2, -3];

export function deliveredByCsv(name: string): Delivered {
  return { name, types: ['BIGINT', 'DECIMAL(38,0)', 'DOUBLE', 'BOOLEAN', ...TIMES] };
}

/** @param type that DuckDB has found in all rows */
export function deliveredByJson({ name, type }: Column): Delivered {
  const only = (to: string, keeps = 'TRUE') => ({ name, types: [], only: { type: to, keeps } });
  if (/^(U?BIGINT|BOOLEAN)$/.test(type)) return only(type);
  if (type === 'HUGEINT') return { name, types: ['DECIMAL(38,0)'] };
  if (type === 'DOUBLE') return only(type, keepsDigits(type));
  if (type === 'JSON') {
    const note =
      'mixes types of values: all are text without quotes, so "1" and 1 are the same; lists and objects are JSON text.';
    return { ...only('VARCHAR'), note };
  }
  if (!/^(STRUCT|MAP)\(|\]$/.test(type)) return { name, types: TIMES };
  // Within lists and objects strings stay as they are: DuckDB would drop the offset of a time, and keep JSON's quotes of a mixture.
  // A field's name is in quotes, or followed by a space.
  const nested = type.replace(
    /("(?:[^"]|"")*")|\b(?:JSON|UUID|DATE|TIME|TIMESTAMP)(?=[,)[]|$)/g,
    (_, quoted?: string) => quoted ?? 'VARCHAR',
  );
  const isMixed = /\bJSON(?=[,)[]|$)/.test(type.replace(/"(?:[^"]|"")*"/g, ''));
  const note = 'has fields that mix types of values, or have none: they are text without quotes.';
  return { ...only(nested), isNested: true, ...(isMixed && { note }) };
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
    const keeps = type === 'VARCHAR' ? 'TRUE' : type === 'DOUBLE' ? fits(type) : keepsDigits(type);
    return { name: column.name, types: [], only: { type, keeps } };
  });
}

/** Values of a column that are alike. */
interface Tally {
  /** Index in KINDS, or MISSING, KEPT or OTHER. */
  kind: number;
  /** Whether `date_format` reads them. */
  isDated: boolean;
  count: number;
  example: string;
}

const sum = (tallies: readonly Tally[]) => tallies.reduce((total, { count }) => total + count, 0);

/**
 * Decides types in one pass over the file. Its rows are turned into values, so that each pattern is planned once for all columns.
 *
 * @param source SQL that delivers the columns, all as text
 * @throws DatasetError unreadable, when a type or format that the caller has given doesn't keep all values
 */
export async function typed(
  run: Run,
  delivered: readonly Delivered[],
  source: string,
  { types: givenTypes = {}, date_format: format }: Given,
): Promise<{ rowCount: number; columns: ColumnReading[]; empty: string[]; notes: string[] }> {
  const tallies = await talliesOf(run, delivered, source, format);
  const rowCount = sum(tallies[0] ?? []);
  const columns: ColumnReading[] = [];
  const empty: string[] = [];
  const notes: string[] = [];
  let isFormatUsed = format === undefined || rowCount === 0;
  for (const [slot, { name, types, only, isNested, note }] of delivered.entries()) {
    const column = quotedIdentifier(name);
    const shown = `Column ${JSON.stringify(name)}`;
    const reading: ColumnReading = { name, type: 'VARCHAR', read: 'VARCHAR', value: column };
    columns.push(reading);
    const values = tallies[slot]!.filter(({ kind }) => kind !== MISSING);
    const present = sum(values);
    if (present === 0) empty.push(name);
    if (present === 0) continue;

    const keeps = (type: string, { kind, isDated }: Tally) =>
      type === format ? isDated : kind === KEPT || KINDS[kind]?.[1].includes(type);
    const keptBy = (type: string) => sum(values.filter((tally) => keeps(type, tally)));
    const candidates = only ? [only.type] : [...(format === undefined ? [] : [format]), ...types];
    const type = candidates.find((each) => keptBy(each) === present);
    if (type === undefined) {
      const [likely] = candidates
        .filter((each) => only !== undefined || (each !== OTHER_DATE && keptBy(each) * 2 >= present))
        .sort((one, other) => keptBy(other) - keptBy(one));
      if (likely === undefined) continue;
      const { example } = values.find((tally) => !keeps(likely, tally))!;
      const changed = `${likely} would change ${JSON.stringify(example)}`;
      if (Object.hasOwn(givenTypes, name))
        throw unreadable(`types: column ${JSON.stringify(name)} can't be read exactly: ${changed}`);
      notes.push(`${shown} is text: ${changed}. types, null_values or date_format read it otherwise.`);
    } else if (type === format) {
      isFormatUsed = true;
      const time = /%[HIcX]/.test(format) ? 'TIMESTAMP' : 'DATE';
      reading.type = /%[zZ]/.test(format) ? 'TIMESTAMP WITH TIME ZONE' : time;
      reading.value = `CAST(strptime(${column}, ${quotedString(format)}) AS ${reading.type})`;
    } else if (type === OTHER_DATE)
      notes.push(
        `${shown} is text: its dates are not ISO 8601. date_format reads them, such as date_format: "%d/%m/%Y".`,
      );
    else {
      reading.type = type;
      if (isNested) reading.read = type;
      else if (type !== 'VARCHAR') reading.value = `CAST(${column} AS ${type})`;
      const nan = type === 'DOUBLE' ? sum(values.filter(({ kind }) => kind === NAN_KIND)) : 0;
      if (nan > 0) reading.value = withoutNan(reading.value);
      if (nan > 0) notes.push(nanNote(name, nan));
      if (note !== undefined) notes.push(`${shown} ${note}`);
    }
  }
  if (!isFormatUsed)
    throw unreadable(
      `date_format: expected the format of all values of a column; got ${JSON.stringify(format)}`,
    );
  return { rowCount, columns, empty, notes };
}

/** Counts the kinds of values in each column. */
async function talliesOf(
  run: Run,
  delivered: readonly Delivered[],
  source: string,
  format: string | undefined,
): Promise<Tally[][]> {
  const names = delivered.map(({ name }) => quotedIdentifier(name)).join(', ');
  const ruleOf = ({ only }: Delivered) => {
    const kept = only?.type === 'DOUBLE' ? when(is(NAN), `${NAN_KIND}`, `${KEPT}`) : `${KEPT}`;
    return only && when(only.keeps, kept, `${OTHER}`);
  };
  const rules = [...new Set(delivered.map(ruleOf))];
  const rulesOfSlots = delivered.map((column) => rules.indexOf(ruleOf(column))).join(', ');
  const kinds = [
    `value IS NULL THEN ${MISSING}`,
    ...rules.flatMap((rule, index) => (rule === undefined ? [] : [`rule = ${index} THEN ${rule}`])),
    `NOT regexp_matches(value, '^[-+ .0-9nNiItTfF]') THEN ${OTHER}`,
    ...KINDS.map(([pattern, , condition = 'TRUE'], kind) => `${when(is(pattern), condition)} THEN ${kind}`),
  ];
  // %Y takes 24 for the year 24.
  const dated =
    format === undefined
      ? 'FALSE'
      : `coalesce(year(try_strptime(value, ${quotedString(format)})) >= 1000, FALSE)`;
  const counted = await run(
    `SELECT slot, CASE WHEN ${kinds.join(' WHEN ')} ELSE ${OTHER} END AS kind, ${dated} AS dated, count(*), left(any_value(value), 40)
     FROM (SELECT unnest(range(${delivered.length})) AS slot, unnest([${rulesOfSlots}]) AS rule, unnest([${names}]) AS value FROM ${source})
     GROUP BY ALL`,
  );
  const tallies = delivered.map((): Tally[] => []);
  for (const [slot, kind, isDated, count, example] of counted.getRows())
    tallies[Number(slot)]!.push({
      kind: Number(kind),
      isDated: isDated === true,
      count: Number(count),
      example: String(example),
    });
  return tallies;
}

export function nanNote(name: string, count: number): string {
  return `Column ${JSON.stringify(name)}: ${count} NaN ${count === 1 ? 'is' : 'are'} missing.`;
}

/** Not nullif: from Parquet's statistics, which leave NaN out, DuckDB concludes that no value equals NaN. */
export function withoutNan(value: string): string {
  return `CASE WHEN isnan(${value}) THEN NULL ELSE ${value} END`;
}
