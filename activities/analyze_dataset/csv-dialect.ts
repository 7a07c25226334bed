/** Finds the dialect of a CSV file from its beginning: separator, quoting, and how wide its records are. */
import { bomLength, readRecord } from './csv-records.js';
import type { CsvDialect, CsvRecord } from './csv-records.js';

export interface DialectGuess {
  dialect: CsvDialect;
  /** Fields of a record. */
  width: number;
  /** Records above the first one that is `width` wide: a title, comments, blank lines. */
  preamble: CsvRecord[];
  notes: string[];
}

interface Trial {
  dialect: CsvDialect;
  records: CsvRecord[];
  /** Fields of the first record that is no preamble. */
  width: number;
  /** Index of that record. */
  first: number;
  /** Records from there on that fit it, blank ones aside: 0 to 1. */
  share: number;
  /** The most frequent number of fields, and the records that have it or broken quotes: 0 to 1. */
  common: number;
  consistency: number;
}

/** Separator for files of one column: a character that no text has. */
const NO_DELIMITER = '\x1f';
const DELIMITERS = [',', ';', '\t', '|'];
const MAX_TRIAL_BYTES = 512 * 1024;
const MAX_TRIAL_RECORDS = 5000;
/** Maximum number of records in a preamble. */
const MAX_PREAMBLE_RECORDS = 100;
/** Minimum share of the records below a preamble that fit. */
const MOSTLY = 0.9;
const HASH = 0x23;
const RFC_4180 = { quote: '"', escape: '"' };

/** @param prefersTab whether the file's name says that tabs separate the fields */
export function guessDialect(bytes: Buffer, isWhole: boolean, prefersTab: boolean): DialectGuess {
  const start = bomLength(bytes);
  const short = bytes.subarray(0, MAX_TRIAL_BYTES);
  const beginning = readRecord(short, start, { delimiter: ',', ...RFC_4180 }, false) ? short : bytes;
  const isLast = isWhole && beginning.length === bytes.length;
  // In a .tsv file, a first line without another separator is the header of its only column.
  const tryOut = (dialect: CsvDialect) =>
    trialOf(beginning, start, dialect, isLast, !prefersTab || dialect.delimiter === '\t');
  const order = prefersTab ? ['\t', ',', ';', '|'] : DELIMITERS;
  const trials = order.map((delimiter) => tryOut({ delimiter, ...RFC_4180 }));
  const best = bestOf(trials);
  if (!best) {
    const single = tryOut({ delimiter: NO_DELIMITER, ...RFC_4180 });
    return { dialect: single.dialect, width: 1, preamble: [], notes: oneColumnNotes(single, beginning) };
  }
  const notes: string[] = [];
  const rival = trials.find(
    (trial) => trial !== best && trial.width > 1 && trial.share === best.share && trial.first === best.first,
  );
  if (rival?.share === 1) {
    notes.push(
      `Fields are separated by ${named(best.dialect.delimiter)}; ${named(rival.dialect.delimiter)} would split the ` +
        `first lines into ${rival.width} fields each as well.`,
    );
  }
  const better =
    best.share < 1 || best.records.some(({ fault }) => fault)
      ? otherQuoting(best, beginning.toString('latin1'), tryOut)
      : undefined;
  if (better) notes.push(better.note);
  const chosen = better?.trial ?? best;
  return {
    dialect: chosen.dialect,
    width: chosen.width,
    preamble: chosen.records.slice(0, chosen.first),
    notes,
  };
}

export function named(delimiter: string): string {
  return delimiter === '\t' ? 'tabs' : JSON.stringify(delimiter);
}

/** Whether a record has one value for each column. Fields too many at its end lose nothing while they are empty. */
export function fitsWidth(record: CsvRecord, width: number): boolean {
  return !record.fault && (record.fields === width || (record.fields > width && record.filled <= width));
}

/** An empty line; in a file of one column it is a row without a value. */
export function isBlank(record: CsvRecord, width: number): boolean {
  return width > 1 && record.end === record.start;
}

function trialOf(
  bytes: Buffer,
  start: number,
  dialect: CsvDialect,
  isLast: boolean,
  mayHavePreamble: boolean,
): Trial {
  const records: CsvRecord[] = [];
  for (let at = start; at < bytes.length && records.length < MAX_TRIAL_RECORDS; at = records.at(-1)!.next) {
    const record = readRecord(bytes, at, dialect, isLast);
    if (!record) break;
    records.push(record);
  }
  const filled = records.filter((record) => record.end > record.start);
  const common = commonWidth(filled);
  const head = records.findIndex((record) => record.end > record.start && !record.fault);
  const wide = records.findIndex((record) => !record.fault && record.fields === common);
  const isPreamble =
    mayHavePreamble &&
    wide > head &&
    wide <= MAX_PREAMBLE_RECORDS &&
    common > 1 &&
    looksLikePreamble(records, head, wide, common, bytes);
  const first = isPreamble ? wide : Math.max(0, head);
  const top = records[first];
  // A header with separators at its end, above rows without them.
  const width = Math.max(
    1,
    top && top.fields > top.filled && top.filled === common ? common : (top?.fields ?? 1),
  );
  const rest = records.slice(first).filter((record) => !isBlank(record, width));
  const part = (some: number, all: number) => (all === 0 ? 0 : some / all);
  return {
    dialect,
    records,
    width,
    first,
    share: part(rest.filter((record) => fitsWidth(record, width)).length, rest.length),
    common,
    consistency: part(
      filled.filter((record) => record.fault ?? fitsWidth(record, common)).length,
      filled.length,
    ),
  };
}

/** The width that most records have; of two that are equally frequent the one that comes first. */
function commonWidth(records: readonly CsvRecord[]): number {
  const counts = new Map<number, number>();
  for (const { fields, fault } of records) if (!fault) counts.set(fields, (counts.get(fields) ?? 0) + 1);
  let common = 1;
  let most = 0;
  for (const [width, count] of counts) if (count > most) [common, most] = [width, count];
  return common;
}

/**
 * Whether narrow records above the first wide one are no header with too few names, but lines
 * without a separator, comments, or lines such as `Station,Vienna` that a blank line sets apart from the header.
 */
function looksLikePreamble(
  records: readonly CsvRecord[],
  head: number,
  wide: number,
  common: number,
  bytes: Buffer,
): boolean {
  const isEmpty = (record: CsvRecord) => record.end === record.start;
  const above = records.slice(head, wide);
  const after = records.slice(wide).filter((record) => !isEmpty(record));
  if (after.filter((record) => fitsWidth(record, common)).length < MOSTLY * after.length) return false;
  return above.some(isEmpty) || above.every(({ start, filled }) => bytes[start] === HASH || filled === 1);
}

/** A separator that few lines agree on is punctuation in a file of one column. */
function bestOf(trials: readonly Trial[]): Trial | undefined {
  const several = trials.filter(({ width, common }) => width > 1 && common > 1);
  const fitting = several.filter(({ share, first }) => share >= 0.5 && first === 0);
  const sound = fitting.length > 0 ? fitting : several.filter(({ consistency }) => consistency >= 0.5);
  return sound.sort(
    (one, other) => other.share - one.share || other.consistency - one.consistency || other.width - one.width,
  )[0];
}

function otherQuoting(
  best: Trial,
  text: string,
  tryOut: (dialect: CsvDialect) => Trial,
): { trial: Trial; note: string } | undefined {
  const { delimiter } = best.dialect;
  const others: [CsvDialect, string][] = [];
  // Without a fault every backslash before a quote ends a value, such as "C:\".
  if (text.includes('\\"') && best.records.some(({ fault }) => fault))
    others.push([
      { delimiter, quote: '"', escape: '\\' },
      'Quotes within values are escaped by a backslash; a backslash before any other character is left out.',
    ]);
  if (
    !text.includes('"') &&
    text.split(/[\n\r]/).some((line) => line.split(delimiter).some((field) => /^\s*'/.test(field)))
  )
    others.push([{ delimiter, quote: "'", escape: "'" }, 'Fields are quoted with \' instead of ".']);
  if (delimiter === '\t')
    others.push([{ delimiter, quote: '', escape: '' }, 'Quotes are read as ordinary characters.']);
  for (const [dialect, note] of others) {
    const trial = tryOut(dialect);
    if (trial.share > best.share && trial.width >= best.width && !trial.records.some(({ fault }) => fault))
      return { trial, note };
  }
  return undefined;
}

function oneColumnNotes(single: Trial, bytes: Buffer): string[] {
  const separated = single.records.find(({ start, end }) =>
    /[,;\t|]/.test(unquoted(bytes.toString('utf8', start, end))),
  );
  if (!separated) return [];
  return ['The file is read as one column: no separator splits its lines into equally many fields.'];
}

function unquoted(text: string): string {
  return text.replace(/"(?:[^"]|"")*"/g, '');
}
