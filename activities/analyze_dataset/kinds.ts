/**
 * Kinds of text that represent a number, boolean or time, as bits: a column's set of kinds decides its type. Written as SQL
 * over one text value, so that one pass over the file classifies every value.
 */
export const Kind = {
  /** Fits 64 bits. */
  Integer: 1,
  /** 38 digits at most. */
  BigInteger: 1 << 1,
  HugeInteger: 1 << 2,
  /** A leading zero, or a plus before seven digits or more: a ZIP code, an article or telephone number. */
  LeadingZero: 1 << 3,
  Decimal: 1 << 4,
  /** 1e5: a number, or an identifier. */
  Exponent: 1 << 5,
  /** 1.234: a fraction, or a thousand. */
  DotThousand: 1 << 6,
  /** A number of so many digits that DOUBLE does not hold them: an integer beyond 2^53, a fraction of 18 digits or more. */
  Inexact: 1 << 7,
  Nan: 1 << 8,
  Infinity: 1 << 9,
  /** 1,5 or 1.234,5: a comma before the fraction. */
  DecimalComma: 1 << 10,
  /** 1,234: either. */
  AnyComma: 1 << 11,
  /** 1,234,567 or 1,234.5: commas between thousands. */
  ThousandsComma: 1 << 12,
  Boolean: 1 << 13,
  Date: 1 << 14,
  Timestamp: 1 << 15,
  ZonedTimestamp: 1 << 16,
  /** More than six digits of a second. */
  Nanoseconds: 1 << 17,
  Time: 1 << 18,
  /** 31/01/2024, 01/31/2024 and 01/02/2024. */
  DayFirst: 1 << 19,
  MonthFirst: 1 << 20,
  AnyFirst: 1 << 21,
  TwoDigitYear: 1 << 22,
  WithTime: 1 << 23,
  /** NA, null, - and the like. */
  Missing: 1 << 24,
  Other: 1 << 25,
  /** A field in quotes with nothing in it. */
  Empty: 1 << 26,
  /** Spaces around the value. */
  Spaced: 1 << 27,
} as const;

export const NUMBERS =
  Kind.Integer |
  Kind.BigInteger |
  Kind.Decimal |
  Kind.Exponent |
  Kind.DotThousand |
  Kind.Inexact |
  Kind.Infinity;
export const COMMAS = Kind.DecimalComma | Kind.AnyComma | Kind.ThousandsComma;
export const SLASHED = Kind.DayFirst | Kind.MonthFirst | Kind.AnyFirst | Kind.TwoDigitYear | Kind.WithTime;
export const MOMENTS = Kind.Date | Kind.Timestamp | Kind.ZonedTimestamp | Kind.Nanoseconds;
export const TIMES = MOMENTS | SLASHED | Kind.Time;

/** In lower case. NaN is a number. */
const MISSING_WORDS = ['na', 'n/a', '#n/a', 'null', 'none', 'nil', '-', '--', '?'];
export const SPACE = `' ' || chr(9) || chr(10) || chr(13)`;

/** SQL: whether the text is a word for a missing value. */
export function isMissing(text: string): string {
  return `lower(${text}) IN ('', 'nan', '-nan', '+nan', ${MISSING_WORDS.map((word) => `'${word}'`).join(', ')})`;
}

const HOUR = '([01][0-9]|2[0-3]):[0-5][0-9]';
const CLOCK = `${HOUR}(:[0-5][0-9]([.][0-9]{1,9})?)?`;
const ISO_DATE = '[0-9]{4}-[0-9]{2}-[0-9]{2}';
const ZONE = '([Zz]|[+-][0-9]{2}(:?[0-9]{2})?)';
const SEPARATED = '[0-9]{1,2}([/-][0-9]{1,2}[/-]([0-9]{4}|[0-9]{2})|[.][0-9]{1,2}[.][0-9]{4})';
const SEPARATED_TIME = `( +[0-9]{1,2}:[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?( ?[AaPp][Mm])?)?`;
const TIME_FORMATS = ['', ' %H:%M', ' %H:%M:%S', ' %H:%M:%S.%f', ' %I:%M %p', ' %I:%M:%S %p'];

/** Kinds to classify: all for CSV; numbers or times for JSON, whose values have types. */
export type Classified = 'all' | 'numbers' | 'times';

export type DayOrder = 'day_first' | 'month_first';

/** SQL: a date such as 31/01/2024, 31.1.2024 or 1-31-24, perhaps with a time, as TIMESTAMP; NULL if it isn't one. */
export function separatedDate(text: string, order: DayOrder): string {
  const [first, second] = order === 'day_first' ? ['%d', '%m'] : ['%m', '%d'];
  const formats = (year: string) =>
    `[${TIME_FORMATS.map((time) => `'${first}/${second}/${year}${time}'`).join(', ')}]`;
  const slashes = `regexp_replace(${text}, '^([0-9]+)[./-]([0-9]+)[./-]', '\\1/\\2/')`;
  const longYear = `regexp_matches(${text}, '^[0-9]+[./-][0-9]+[./-][0-9]{4}')`;
  return `CASE WHEN ${longYear} THEN try_strptime(${slashes}, ${formats('%Y')}) ELSE try_strptime(${slashes}, ${formats('%y')}) END`;
}

/** SQL: the kinds of a text as it stands in the file. @param trimmed the same without spaces around it */
export function allKindsOf(text: string, trimmed: string, only: Classified): string {
  const spaced = `CASE WHEN ${trimmed} <> ${text} THEN ${Kind.Spaced} ELSE 0 END`;
  return `CASE WHEN ${trimmed} = '' THEN ${Kind.Empty} ELSE ${kindsOf(trimmed, only)} | ${spaced} END`;
}

/**
 * SQL: the kinds of a text as it stands in the file, but NULL for the plain values that `expected` already has: a pass over a
 * column whose first rows gave `expected` classifies only the values that deviate.
 */
export function oddKindsOf(text: string, only: Classified, expected: number): string {
  // One value that is only text decides the type: words for missing values and spaces are all that is left to look for.
  if (expected & Kind.Other) {
    const isSpaced = [' ', '\t'].flatMap((space) => [
      `prefix(${text}, '${space}')`,
      `suffix(${text}, '${space}')`,
    ]);
    return `CASE WHEN ${isSpaced.join(' OR ')} THEN ${Kind.Spaced} WHEN strlen(${text}) <= 4 THEN
      CASE WHEN ${text} = '' THEN ${Kind.Empty} WHEN ${isMissing(text)} THEN ${Kind.Missing} END END`;
  }
  const plain = ['FALSE', ...plainValues(text, expected)].join(' OR ');
  const trimmed = `trim(${text}, ${SPACE})`;
  return `CASE WHEN ${text} IS NULL OR ${plain} THEN NULL ELSE ${allKindsOf(text, trimmed, only)} END`;
}

/** SQL conditions under which a value certainly is of one expected kind; each costs little. */
function plainValues(text: string, expected: number): string[] {
  const cast = (type: string) => `TRY_CAST(${text} AS ${type})`;
  const isoTime = (zone: string, type: string) =>
    `(${full(text, `${ISO_DATE}[T ]${HOUR}(:[0-5][0-9]([.][0-9]{1,6})?)?${zone}`)} AND ${cast(type)} IS NOT NULL)`;
  const conditions: [number, string][] = [
    [Kind.Integer, `(length(${text}) < 16 AND CAST(${cast('BIGINT')} AS VARCHAR) = ${text})`],
    [
      Kind.Decimal,
      `${full(text, '-?(0[.]0*([1-9][0-9]{0,16})?|[1-9][0-9]{0,4}[.]([0-9]{1,2}|[0-9]{4,12}))')}`,
    ],
    [Kind.Boolean, `${text} IN ('true', 'false', 'True', 'False', 'TRUE', 'FALSE')`],
    [Kind.Date, `CAST(${cast('DATE')} AS VARCHAR) = ${text}`],
    [Kind.Timestamp, isoTime('', 'TIMESTAMP')],
    [Kind.ZonedTimestamp, isoTime(ZONE, 'TIMESTAMPTZ')],
  ];
  return conditions.filter(([kind]) => expected & kind).map(([, condition]) => condition);
}

const full = (text: string, pattern: string) => `regexp_full_match(${text}, '${pattern}')`;

/** SQL: the kinds of a text that is neither NULL nor empty and has no spaces around it. */
function kindsOf(text: string, only: Classified = 'all'): string {
  const branches = [
    ...(only === 'all' ? [`WHEN ord(${text}) > 57 THEN ${wordKinds(text)}`] : []),
    ...(only === 'times' ? [] : numberKinds(text)),
    ...(only === 'numbers' ? [] : timeKinds(text)),
  ];
  const rest = only === 'times' ? missingKind(text) : wordKinds(text);
  return `CASE ${branches.join(' ')} ELSE ${rest} END`;
}

function missingKind(text: string): string {
  return `CASE WHEN length(${text}) <= 4 AND ${isMissing(text)} THEN ${Kind.Missing} ELSE ${Kind.Other} END`;
}

function wordKinds(text: string): string {
  return `CASE WHEN length(${text}) > 9 THEN ${Kind.Other} ELSE CASE lower(${text})
    WHEN 'true' THEN ${Kind.Boolean} WHEN 'false' THEN ${Kind.Boolean}
    ${['nan', '-nan', '+nan'].map((word) => `WHEN '${word}' THEN ${Kind.Nan}`).join(' ')}
    ${['inf', 'infinity'].flatMap((word) => ['', '-', '+'].map((sign) => `WHEN '${sign}${word}' THEN ${Kind.Infinity}`)).join(' ')}
    ${MISSING_WORDS.map((word) => `WHEN '${word}' THEN ${Kind.Missing}`).join(' ')}
    ELSE ${Kind.Other} END END`;
}

function numberKinds(text: string): string[] {
  const double = `TRY_CAST(${text} AS DOUBLE)`;
  const inexactInteger = `CASE WHEN length(${text}) > 15 AND TRY_CAST(${double} AS HUGEINT) IS DISTINCT FROM TRY_CAST(${text} AS HUGEINT) THEN ${Kind.Inexact} ELSE 0 END`;
  // Significant digits alone: 1.50e3 and 1500.0 have the same.
  const digits = (number: string) =>
    `trim(regexp_replace(regexp_replace(lower(${number}), 'e.*', ''), '[-+.]', '', 'g'), '0')`;
  const inexactDecimal = `CASE WHEN length(${text}) > 18 AND ${digits(text)} <> ${digits(`CAST(${double} AS VARCHAR)`)} THEN ${Kind.Inexact} ELSE 0 END`;
  return [
    `WHEN ${full(text, '[+-]?(0|[1-9][0-9]{0,17})')} THEN CASE WHEN ord(${text}) = 43 AND length(${text}) > 7 THEN ${Kind.LeadingZero} ELSE ${Kind.Integer} | ${inexactInteger} END`,
    `WHEN ${full(text, '[+-]?[1-9][0-9]{18,}')} THEN CASE WHEN ord(${text}) = 43 THEN ${Kind.LeadingZero}
       WHEN TRY_CAST(${text} AS BIGINT) IS NOT NULL THEN ${Kind.Integer} | ${inexactInteger}
       WHEN length(ltrim(${text}, '-')) <= 38 THEN ${Kind.BigInteger} | ${inexactInteger} ELSE ${Kind.HugeInteger} END`,
    `WHEN ${full(text, '[+-]?0[0-9]+([.][0-9]*)?')} THEN ${Kind.LeadingZero}`,
    `WHEN ${full(text, '[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?')} THEN CASE
       WHEN NOT isfinite(${double}) THEN ${Kind.Other}
       WHEN ${full(text, '[0-9]+[eE][0-9]+')} THEN ${Kind.Exponent}
       WHEN length(${text}) < 9 AND ${full(text, '[+-]?[1-9][0-9]{0,2}[.][0-9]{3}')} THEN ${Kind.DotThousand}
       ELSE ${Kind.Decimal} | ${inexactDecimal} END`,
    `WHEN contains(${text}, ',') THEN CASE
       WHEN ${full(text, '[+-]?[1-9][0-9]{0,2},[0-9]{3}')} THEN ${Kind.AnyComma}
       WHEN ${full(text, '[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+([.][0-9]*)?')} THEN ${Kind.ThousandsComma}
       WHEN ${full(text, '[+-]?([1-9][0-9]{0,2}([.][0-9]{3})+|0|[1-9][0-9]*),[0-9]+')} THEN ${Kind.DecimalComma}
       ELSE ${Kind.Other} END`,
  ];
}

function timeKinds(text: string): string[] {
  const valid = (pattern: string, type: string, kind: string | number) =>
    `WHEN ${full(text, pattern)} THEN CASE WHEN TRY_CAST(${text} AS ${type}) IS NULL THEN ${Kind.Other} ELSE ${kind} END`;
  const nano = (zone: string, kind: number) =>
    `${kind} | CASE WHEN ${full(text, `.*[.][0-9]{7,9}${zone}`)} THEN ${Kind.Nanoseconds} ELSE 0 END`;
  const dayFirst = separatedDate(text, 'day_first');
  const monthFirst = separatedDate(text, 'month_first');
  return [
    `WHEN ${text}[5] = '-' THEN CASE
       ${valid(ISO_DATE, 'DATE', Kind.Date)}
       ${valid(`${ISO_DATE}[T ]${CLOCK}`, 'TIMESTAMP', nano('', Kind.Timestamp))}
       ${valid(`${ISO_DATE}[T ]${CLOCK}${ZONE}`, 'TIMESTAMPTZ', nano(ZONE, Kind.ZonedTimestamp))}
       ELSE ${Kind.Other} END`,
    valid('[0-9]{4}/[0-9]{1,2}/[0-9]{1,2}', 'DATE', Kind.Date),
    valid(`${HOUR}(:[0-5][0-9]([.][0-9]{1,6})?)?`, 'TIME', Kind.Time),
    `WHEN ${full(text, SEPARATED + SEPARATED_TIME)} THEN CASE
       WHEN ${dayFirst} IS NULL AND ${monthFirst} IS NULL THEN ${Kind.Other}
       ELSE CASE WHEN ${monthFirst} IS NULL THEN ${Kind.DayFirst} WHEN ${dayFirst} IS NULL THEN ${Kind.MonthFirst} ELSE ${Kind.AnyFirst} END
         | CASE WHEN regexp_matches(${text}, '^[0-9]+[./-][0-9]+[./-][0-9]{4}') THEN 0 ELSE ${Kind.TwoDigitYear} END
         | CASE WHEN contains(${text}, ':') THEN ${Kind.WithTime} ELSE 0 END END`,
  ];
}
