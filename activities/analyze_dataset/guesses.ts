/** Decides a column's type by the kinds of all of its values, and notes each guess that may be wrong. */
import type { ColumnReading } from './column-reading.js';
import { COMMAS, Kind, MOMENTS, NUMBERS, SLASHED, TIMES } from './kinds.js';

/** The kinds of values in a column that DuckDB delivers as text. */
export interface TextFacts {
  name: string;
  /** Origin of the text: CSV values are of any kind; JSON has types for numbers and booleans. */
  from: 'csv' | 'json_string' | 'json_number';
  /** Values that are not NULL. */
  present: number;
  /** Kinds of the plain values, which are not counted. */
  plain: number;
  /** Set of kinds -> number of values that have it. */
  counts: ReadonlyMap<number, number>;
  /** One value of the highest kind that deviates. */
  example?: string;
  /** One word for a missing value. */
  missingWord?: string;
  /** Share of numbers and times among the first rows, where they also have values that are text alone. */
  sampled?: { numbers: number; times: number; total: number };
}

export interface Guess {
  column: ColumnReading;
  notes: string[];
  /** Whether the column is text although at least half of its values are of another type. */
  isMixed?: true;
}

const FLAGS = Kind.Missing | Kind.Empty | Kind.Spaced;
/** End of a note on values that are text in a column of numbers. */
const LATER = 'read as text';

const isWithin = (kinds: number, allowed: number) => (kinds & ~allowed) === 0;

export function guessOf(facts: TextFacts): Guess {
  const all = [...facts.counts.keys()].reduce((kinds, next) => kinds | next, facts.plain);
  const kinds = all & ~(FLAGS | Kind.Nan);
  const column = JSON.stringify(facts.name);
  const such = facts.example === undefined ? '' : ` such as ${JSON.stringify(facts.example)}`;
  const notes: string[] = [];
  const found = typeOf(facts, kinds, all, column, such, notes);
  if (!found) return asText(facts, kinds, column, such, notes);

  const missing = countOf(facts, Kind.Missing);
  if (missing > 0) {
    notes.push(
      `Column ${column}: ${counted(missing, 'value')} such as ${JSON.stringify(facts.missingWord)} ${missing === 1 ? 'counts' : 'count'} as missing.`,
    );
  }
  const nan = countOf(facts, Kind.Nan);
  if (nan > 0) notes.push(nanNote(facts.name, nan));
  const infinite = countOf(facts, Kind.Infinity);
  if (infinite > 0) notes.push(infinityNote(facts.name, infinite));
  return {
    column: {
      name: facts.name,
      readAs: 'VARCHAR',
      convert: 'cast',
      ...found,
      ...(all & Kind.Spaced && { hasSpaces: true }),
      ...((missing > 0 || all & (Kind.Empty | Kind.Nan)) && { hasMissing: true }),
    },
    notes,
  };
}

type Found = Pick<ColumnReading, 'type' | 'convert'>;

function typeOf(
  facts: TextFacts,
  kinds: number,
  all: number,
  column: string,
  such: string,
  notes: string[],
): Found | undefined {
  if (kinds === 0) return all & Kind.Nan ? { type: 'DOUBLE' } : undefined;
  if (isWithin(kinds, NUMBERS)) return numberOf(facts, kinds, column, such, notes);
  if (isWithin(kinds, Kind.Integer | Kind.Inexact | Kind.DotThousand | Kind.Decimal | COMMAS))
    return commaNumber(kinds, column, such, notes);
  if (kinds === Kind.Boolean) return { type: 'BOOLEAN' };
  if (kinds === Kind.Time) return { type: 'TIME' };
  if (isWithin(kinds, SLASHED)) return separated(kinds, column, such, notes);
  if (isWithin(kinds, MOMENTS)) return moment(kinds, column, notes);
  return undefined;
}

function numberOf(facts: TextFacts, kinds: number, column: string, such: string, notes: string[]): Found {
  if (isWithin(kinds, Kind.Integer | Kind.Inexact)) return { type: 'BIGINT' };
  if (isWithin(kinds, Kind.Integer | Kind.BigInteger | Kind.Inexact)) return { type: 'HUGEINT' };
  if (kinds & (Kind.Inexact | Kind.BigInteger)) {
    notes.push(
      `Column ${column}: numbers of many digits${such} are read as floating point, which keeps about 16 digits.`,
    );
  }
  if (facts.from === 'csv' && kinds & Kind.Exponent) {
    notes.push(
      `Column ${column}: values${such} are read as numbers with an exponent; they could be identifiers.`,
    );
  }
  if (facts.from === 'csv' && kinds & Kind.DotThousand && isWithin(kinds, Kind.DotThousand | Kind.Integer)) {
    notes.push(
      `Column ${column}: the point in values${such} is read as a decimal point; it could stand between thousands.`,
    );
  }
  return { type: 'DOUBLE' };
}

function commaNumber(kinds: number, column: string, such: string, notes: string[]): Found | undefined {
  const integers = Kind.Integer | Kind.Inexact;
  if (
    kinds & Kind.DecimalComma &&
    isWithin(kinds, integers | Kind.DotThousand | Kind.DecimalComma | Kind.AnyComma)
  ) {
    notes.push(`Column ${column}: values${such} are read as numbers with a decimal comma.`);
    return { type: 'DOUBLE', convert: 'decimal_comma' };
  }
  const thousands = integers | Kind.DotThousand | Kind.Decimal | Kind.ThousandsComma | Kind.AnyComma;
  if (kinds & Kind.ThousandsComma && isWithin(kinds, thousands)) {
    notes.push(`Column ${column}: values${such} are read as numbers with commas between thousands.`);
    return { type: 'DOUBLE', convert: 'thousands_comma' };
  }
  notes.push(
    `Column ${column} is ${LATER}: the comma in values${such} could be a decimal comma or stand between thousands.`,
  );
  return undefined;
}

function separated(kinds: number, column: string, such: string, notes: string[]): Found | undefined {
  if (kinds & Kind.DayFirst && kinds & Kind.MonthFirst) {
    notes.push(
      `Column ${column} is ${LATER}: some of its dates can only be day/month/year, others only month/day/year.`,
    );
    return undefined;
  }
  const [order, format, other] =
    kinds & Kind.MonthFirst
      ? (['month_first', 'month/day/year', 'day/month/year'] as const)
      : (['day_first', 'day/month/year', 'month/day/year'] as const);
  const isOpen = !(kinds & (Kind.DayFirst | Kind.MonthFirst));
  if (isOpen) {
    notes.push(`Column ${column}: dates${such} are read as ${format}; all of them could also be ${other}.`);
  }
  if (kinds & Kind.TwoDigitYear) {
    notes.push(
      `Column ${column}: ${isOpen ? '' : `dates${such} are read as ${format}; `}years of two digits are read as 1969 to 2068.`,
    );
  }
  return { type: kinds & Kind.WithTime ? 'TIMESTAMP' : 'DATE', convert: order };
}

function moment(kinds: number, column: string, notes: string[]): Found | undefined {
  if (kinds === Kind.Date) return { type: 'DATE' };
  const isZoned = (kinds & Kind.ZonedTimestamp) !== 0;
  if (isZoned && kinds & (Kind.Timestamp | Kind.Date)) {
    notes.push(`Column ${column} is ${LATER}: some of its times have a time zone and others none.`);
    return undefined;
  }
  if (kinds & Kind.Date) notes.push(`Column ${column}: dates without a time are read as midnight.`);
  if (!(kinds & Kind.Nanoseconds)) return { type: isZoned ? 'TIMESTAMP WITH TIME ZONE' : 'TIMESTAMP' };
  if (!isZoned) return { type: 'TIMESTAMP_NS' };
  notes.push(`Column ${column}: times are cut to microseconds; some have more digits.`);
  return { type: 'TIMESTAMP WITH TIME ZONE' };
}

function asText(facts: TextFacts, kinds: number, column: string, such: string, notes: string[]): Guess {
  const isCsv = facts.from === 'csv';
  if (kinds & Kind.LeadingZero && isWithin(kinds, NUMBERS | Kind.LeadingZero | Kind.HugeInteger)) {
    notes.push(`Column ${column} is ${LATER}: some of its numbers begin with 0 or +${such && `,${such}`}.`);
  } else if (kinds & Kind.HugeInteger && isWithin(kinds, NUMBERS | Kind.HugeInteger)) {
    notes.push(`Column ${column} is ${LATER}: some of its numbers have more than 38 digits.`);
  }
  const mixture = notes.length === 0 ? mixtureNote(facts, column, such) : undefined;
  if (mixture) notes.push(mixture);
  const missing = countOf(facts, Kind.Missing | Kind.Nan);
  if (isCsv && missing > 0) {
    const word = facts.missingWord === undefined ? 'NaN' : facts.missingWord;
    notes.push(
      `Column ${column}: ${counted(missing, 'value')} such as ${JSON.stringify(word)} ${missing === 1 ? 'is' : 'are'} text and not missing.`,
    );
  }
  const empty = countOf(facts, Kind.Empty);
  if (isCsv && empty > 0 && empty < facts.present) {
    notes.push(
      `Column ${column}: ${counted(empty, 'empty value')} in quotes ${empty === 1 ? 'is' : 'are'} empty text and not missing.`,
    );
  }
  const spaced = countOf(facts, Kind.Spaced);
  if (isCsv && spaced > 0) {
    notes.push(
      `Column ${column}: ${counted(spaced, 'value')} ${spaced === 1 ? 'begins or ends' : 'begin or end'} with spaces, which count.`,
    );
  }
  return {
    column: {
      name: facts.name,
      type: 'VARCHAR',
      readAs: 'VARCHAR',
      // A writer that quotes every field leaves no other way to write a column without values.
      ...(isCsv && empty > 0 && empty === facts.present && { hasMissing: true as const }),
    },
    notes,
    ...(mixture !== undefined && { isMixed: true as const }),
  };
}

/** Note on a column of mixed values; undefined when fewer than half of them are numbers or times. */
function mixtureNote(facts: TextFacts, column: string, such: string): string | undefined {
  const plainCount = facts.present - [...facts.counts.values()].reduce((sum, count) => sum + count, 0);
  const share = facts.sampled ?? {
    numbers: (facts.plain & NUMBERS ? plainCount : 0) + countOf(facts, NUMBERS | COMMAS),
    times: (facts.plain & TIMES ? plainCount : 0) + countOf(facts, TIMES),
    total: facts.present,
  };
  const most = Math.max(share.numbers, share.times);
  if (most === 0 || most * 2 < share.total || most === share.total) return undefined;
  const what = share.numbers >= share.times ? 'numbers' : 'dates or times';
  const rest = facts.sampled
    ? 'some of its values'
    : `${share.total - most} of its ${counted(share.total, 'value')}`;
  return `Column ${column} is ${LATER}: ${rest} are no ${what}${such && `,${such}`}.`;
}

export function nanNote(name: string, count: number): string {
  return `Column ${JSON.stringify(name)}: ${counted(count, 'NaN value')} ${count === 1 ? 'counts' : 'count'} as missing.`;
}

export function infinityNote(name: string, count: number): string {
  return `Column ${JSON.stringify(name)}: ${counted(count, 'value')} ${count === 1 ? 'is' : 'are'} infinite, so sums and averages over ${count === 1 ? 'it' : 'them'} are infinite or missing.`;
}

/** Values with at least one of these kinds. */
export function countOf({ counts }: Pick<TextFacts, 'counts'>, kinds: number): number {
  let sum = 0;
  for (const [mask, count] of counts) if (mask & kinds) sum += count;
  return sum;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
