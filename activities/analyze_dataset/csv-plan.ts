/** How CSV files are read: decided on their beginnings, then held against every record by DuckDB's strict mode. */
import path from 'node:path';
import { quotedIdentifier, quotedString } from '@duckdb/node-api';
import { writeFile } from 'node:fs/promises';
import { isUtf8 } from 'node:buffer';
import { beginningOf, contentOf } from './content.js';
import { fits, guessDialect, isBlank } from './csv-dialect.js';
import { columnNames, findHeader } from './csv-header.js';
import { bomLength, fieldTexts, MAX_RECORD_BYTES, readRecord } from './csv-records.js';
import type { CsvDialect, Newline } from './csv-records.js';
import { refuseBadRows } from './csv-bad-rows.js';
import { scanCsv } from './csv-scan.js';
import { refuseOtherThanUtf8, utf16Of, wholeCharacters } from './encoding.js';
import type { Utf16 } from './content.js';
import { DatasetError } from './errors.js';
import type { DatasetFile, LocatedFile } from './locate.js';
import type { Session } from './session.js';
import type { Column } from '../../tools/analyze_dataset.js';

export type OnBadRows = 'fail' | 'skip';

/** Neighbouring files that are read in the same way. A plain value, handed from call to call. */
export interface CsvGroup {
  /** How many of the dataset's files these are, in their order. */
  files: number;
  dialect: CsvDialect;
  newline: Newline;
  /** Records above the first row. */
  skip: number;
  /** Names of the file's columns, in its order. */
  names: string[];
  utf16?: Utf16;
  /** Whether a copy is read, made anew by every session: UTF-8, with one kind of line ends, without bad rows. */
  copied?: true;
}

export interface CsvPlan {
  groups: CsvGroup[];
  /** All columns, with the types that the beginnings suggest. */
  columns: Column[];
  dateFormat?: string;
  timestampFormat?: string;
  decimalComma?: true;
  onBadRows: OnBadRows;
  /** Rows of all files, counted without DuckDB. */
  rowCount: number;
  /** Set where quoted line ends confuse DuckDB's parallel reader, which then fails, never returns other rows. */
  isSequential?: true;
  notes: string[];
}

interface Beginning {
  group: CsvGroup;
  rows: string[][];
  notes: string[];
}

/** DuckDB looks at as many rows for the types of columns. */
const SAMPLE_ROWS = 20_480;
const SAMPLE_BYTES = 4 * 1024 ** 2;
const MIN_SAMPLE_BYTES = 64 * 1024;
const MAX_NOTES = 12;

/**
 * Reads all files once, and their beginnings twice.
 *
 * @throws DatasetError unreadable, naming the lines that don't fit
 */
export async function planCsv(
  file: DatasetFile,
  session: Session,
  onBadRows: OnBadRows,
  signal: AbortSignal,
): Promise<CsvPlan> {
  const beginnings: Beginning[] = [];
  const share = file.files.length;
  let rowCount = 0;
  for (const one of file.files) {
    const beginning = await readBeginning(one, Math.max(MIN_SAMPLE_BYTES, SAMPLE_BYTES / share), signal);
    const { group } = beginning;
    beginning.rows = beginning.rows.slice(0, Math.max(100, Math.ceil(SAMPLE_ROWS / share)));
    const scan = await scanCsv(contentOf(one, signal, group.utf16), group);
    refuseBadRows(one, group, scan, onBadRows);
    if (scan.badRows > 0 || scan.newlines.length > 1) group.copied = true;
    if (scan.blankRows > 0)
      beginning.notes.push(
        `${scan.blankRows} blank lines are rows without a value, since the file has one column.`,
      );
    rowCount += scan.rows;
    beginnings.push(beginning);
  }
  const spelled = new Map<string, string>();
  for (const { group } of beginnings) {
    group.names = group.names.map((name) => {
      const folded = name.toLowerCase();
      if (!spelled.has(folded)) spelled.set(folded, name);
      return spelled.get(folded)!;
    });
  }
  const names = [...spelled.values()];
  const notes = beginnings.flatMap((beginning, index) =>
    beginning.notes.map((note) => (share === 1 ? note : `${file.files[index]!.name}: ${note}`)),
  );
  notes.push(...missingColumns(names, beginnings, file.files));
  const decimalComma = hasDecimalCommas(beginnings);
  if (decimalComma) notes.push('Numbers are read with a decimal comma: 1,5 is one and a half.');
  const sniffed = await sniffTypes(names, beginnings, decimalComma, session);
  return {
    groups: grouped(beginnings.map(({ group }) => group)),
    ...sniffed,
    ...(decimalComma && { decimalComma }),
    onBadRows,
    rowCount,
    notes:
      notes.length <= MAX_NOTES
        ? notes
        : [...notes.slice(0, MAX_NOTES), `${notes.length - MAX_NOTES} more notes on other files.`],
  };
}

/** What to put into a FROM. @param readPaths of the dataset's files, or of their copies */
export function csvSource(
  plan: CsvPlan,
  readPaths: readonly string[],
  textColumns: readonly string[],
): string {
  const types = new Map(
    plan.columns.map(({ name, type }) => [name, textColumns.includes(name) ? 'VARCHAR' : type]),
  );
  let from = 0;
  const sources = plan.groups.map((group) => {
    const paths = readPaths.slice(from, (from += group.files));
    const { delimiter, quote, escape } = group.dialect;
    const columns = group.names.map((name) => `${quotedString(name)}: ${quotedString(types.get(name)!)}`);
    const options = [
      'auto_detect = false',
      'hive_partitioning = false',
      'header = false',
      `delim = ${quotedString(delimiter)}`,
      `quote = ${quotedString(quote)}`,
      `escape = ${quotedString(escape)}`,
      `new_line = '${(group.copied ? '\n' : group.newline).replace('\r', '\\r').replace('\n', '\\n')}'`,
      `skip = ${group.copied ? 0 : group.skip}`,
      `columns = {${columns.join(', ')}}`,
      `max_line_size = ${MAX_RECORD_BYTES}`,
      `buffer_size = ${2 * MAX_RECORD_BYTES}`,
      ...(plan.dateFormat === undefined ? [] : [`dateformat = ${quotedString(plan.dateFormat)}`]),
      ...(plan.timestampFormat === undefined
        ? []
        : [`timestampformat = ${quotedString(plan.timestampFormat)}`]),
      ...(plan.decimalComma ? [`decimal_separator = ','`] : []),
      ...(plan.isSequential ? ['parallel = false'] : []),
    ];
    return `read_csv([${paths.map(quotedString).join(', ')}], ${options.join(', ')})`;
  });
  if (sources.length === 1) return sources[0]!;
  const all = plan.columns.map(({ name }) => name);
  const selects = sources.map((source, index) => {
    const own = plan.groups[index]!.names;
    const selected = all.map((name) => {
      const column = quotedIdentifier(name);
      return own.includes(name) ? column : `CAST(NULL AS ${types.get(name)!}) AS ${column}`;
    });
    return `SELECT ${selected.join(', ')} FROM ${source}`;
  });
  return `(${selects.join(' UNION ALL ')})`;
}

/** Group of each file, by its index. */
export function groupOf(plan: CsvPlan, index: number): CsvGroup {
  let left = index;
  return plan.groups.find(({ files }) => (left -= files) < 0)!;
}

/**
 * The plan with which to read again after DuckDB's parallel reader failed or returned other rows than the file has;
 * undefined when nothing is left to try.
 */
export function saferPlan(plan: CsvPlan): CsvPlan | undefined {
  if (!plan.isSequential) return { ...plan, isSequential: true };
  if (plan.groups.every(({ copied }) => copied)) return undefined;
  return { ...plan, groups: plan.groups.map((group) => ({ ...group, copied: true })) };
}

async function readBeginning(file: LocatedFile, maxBytes: number, signal: AbortSignal): Promise<Beginning> {
  const raw = await beginningOf(file, 4096, signal);
  const utf16 = utf16Of(raw.bytes);
  const { bytes, isWhole } = await beginningOf(file, maxBytes, signal, utf16?.encoding);
  if (!isUtf8(bytes.subarray(0, isWhole ? bytes.length : wholeCharacters(bytes))))
    await refuseOtherThanUtf8(file, signal);
  const { dialect, width, preamble, notes } = guessDialect(bytes, isWhole, /\.tsv(\.gz)?$/i.test(file.name));
  const allNotes = utf16
    ? [`The file is read as UTF-16${utf16.isGuess ? ', although it has no byte order mark' : ''}.`]
    : [];
  let line = 1;
  let at = bomLength(bytes);
  const newlines = new Set<Newline>();
  const rows: string[][] = [];
  let skip = preamble.length;
  for (const record of preamble) {
    line += record.lines;
    at = record.next;
    if (record.newline) newlines.add(record.newline);
  }
  if (preamble.some((record) => record.end > record.start)) {
    allNotes.push(
      `Lines 1 to ${line - 1} stand above the table and are left out.`.replace(
        'Lines 1 to 1 stand above the table and are',
        'Line 1 stands above the table and is',
      ),
    );
  }
  let first: string[] | undefined;
  let firstLine = line;
  while (at < bytes.length && rows.length < SAMPLE_ROWS) {
    const spans: number[] = [];
    const record = readRecord(bytes, at, dialect, isWhole, spans);
    if (!record) break;
    if (record.newline) newlines.add(record.newline);
    if (first === undefined && record.end === record.start) {
      skip += 1;
    } else if (first === undefined) {
      first = fieldTexts(bytes, spans, dialect);
      firstLine = line;
    } else if (fits(record, width) && !isBlank(record, width)) {
      rows.push(fieldTexts(bytes, spans, dialect).slice(0, width));
    }
    at = record.next;
    line += record.lines;
  }
  if (first === undefined) throw noRecord(file, isWhole);
  const header = findHeader(first, rows, firstLine);
  const { names, notes: nameNotes } = columnNames(header, width);
  if (!header.names) rows.unshift(first);
  const newline = [...newlines][0] ?? '\n';
  // DuckDB counts the records that it skips by its own idea of quotes.
  const isOddAbove = preamble.some(
    ({ start, end, fault }) => fault !== undefined || bytes.subarray(start, end).includes(dialect.quote),
  );
  const group: CsvGroup = {
    files: 1,
    dialect,
    newline,
    skip: skip + (header.names ? 1 : 0),
    names,
    ...(utf16 && { utf16: utf16.encoding }),
    ...((utf16 !== undefined || newlines.size > 1 || isOddAbove) && { copied: true as const }),
  };
  return { group, rows, notes: [...allNotes, ...notes, ...(header.note ? [header.note] : []), ...nameNotes] };
}

function noRecord(file: LocatedFile, isWhole: boolean): DatasetError {
  const fault = isWhole
    ? 'has no line with a value; expected a header and rows'
    : `has no complete first record in its first ${SAMPLE_BYTES} bytes: it is no CSV, or a quote never closes`;
  return new DatasetError('unreadable', `path: ${file.name} ${fault}`);
}

function missingColumns(
  names: readonly string[],
  beginnings: readonly Beginning[],
  files: readonly LocatedFile[],
): string[] {
  const lacking = names.flatMap((name) => {
    const without = files.filter((_, index) => !beginnings[index]!.group.names.includes(name));
    return without.length === 0 ? [] : [{ name, without }];
  });
  return lacking
    .slice(0, 5)
    .map(({ name, without }) => {
      const others = without.length === 1 ? '' : ` and ${without.length - 1} more files`;
      return `Column ${JSON.stringify(name)} is missing in ${without[0]!.name}${others}: their rows have no value there.`;
    })
    .concat(lacking.length > 5 ? [`${lacking.length - 5} more columns are missing in some files.`] : []);
}

/**
 * Whether `1,5` is a number: in a file that commas don't separate, a column of such values, and no column of values such
 * as `1.5`. Three digits after each comma may as well be thousands, and stay text.
 */
function hasDecimalCommas(beginnings: readonly Beginning[]): boolean {
  let found = false;
  for (const { group, rows } of beginnings) {
    for (const index of group.names.keys()) {
      const values = rows.map((row) => row[index]!.trim()).filter((value) => value !== '');
      if (values.length === 0) continue;
      if (values.every((value) => /^[-+]?\d*\.\d+$/.test(value))) return false;
      if (group.dialect.delimiter === ',') continue;
      const isDecimal = values.every((value) => /^[-+]?\d+(,\d+)?$/.test(value));
      if (isDecimal && values.some((value) => value.includes(',') && !/,\d{3}$/.test(value))) found = true;
    }
  }
  return found;
}

/** Has DuckDB infer types from the rows at the beginnings that fit, so that no bad line can mislead it. */
async function sniffTypes(
  names: readonly string[],
  beginnings: readonly Beginning[],
  decimalComma: boolean,
  session: Session,
): Promise<Pick<CsvPlan, 'columns' | 'dateFormat' | 'timestampFormat'>> {
  const lines: string[] = [];
  for (const { group, rows } of beginnings) {
    const places = names.map((name) => group.names.indexOf(name));
    for (const row of rows) lines.push(places.map((place) => csvField(row[place] ?? '')).join(','));
  }
  if (lines.length === 0) return { columns: names.map((name) => ({ name, type: 'VARCHAR' })) };
  const sample = path.join(session.scratchFolder, 'sample.csv');
  await writeFile(sample, `${lines.join('\n')}\n`);
  const decimal = decimalComma ? `, decimal_separator = ','` : '';
  const reader = await session.run(
    `SELECT list_transform(Columns, c -> c.type), DateFormat, TimestampFormat
     FROM sniff_csv(${quotedString(sample)}, delim = ',', quote = '"', escape = '"', header = false, skip = 0,
                    null_padding = false, sample_size = -1, max_line_size = ${MAX_RECORD_BYTES},
                    buffer_size = ${2 * MAX_RECORD_BYTES}, names = [${names.map(quotedString).join(', ')}]${decimal})`,
  );
  const [types, dateFormat, timestampFormat] = reader.getRowsJS()[0]! as [
    string[],
    string | null,
    string | null,
  ];
  return {
    columns: names.map((name, index) => ({ name, type: types[index]! })),
    ...(dateFormat ? { dateFormat } : {}),
    ...(timestampFormat ? { timestampFormat } : {}),
  };
}

/** A value of the sample. Line ends say nothing of its type, and DuckDB's detection fails on some of them. */
function csvField(text: string): string {
  const line = text.replace(/[\r\n]+/g, '_');
  return /[",]|^\s|\s$/.test(line) ? `"${line.replaceAll('"', '""')}"` : line;
}

function grouped(groups: readonly CsvGroup[]): CsvGroup[] {
  const key = ({ files: _, ...rest }: CsvGroup) => JSON.stringify(rest);
  const merged: CsvGroup[] = [];
  for (const group of groups) {
    const last = merged.at(-1);
    if (last && key(last) === key(group)) last.files += group.files;
    else merged.push({ ...group });
  }
  return merged;
}
