/** Reads the beginning of a CSV file: encoding, dialect and header. */
import { isUtf8 } from 'node:buffer';
import { readHead, isGzipName } from './content.js';
import type { Utf16 } from './content.js';
import { fitsWidth, guessDialect, isBlank } from './csv-dialect.js';
import { columnNames, findHeader } from './csv-header.js';
import { bomLength, fieldTexts, MAX_RECORD_BYTES, readRecord } from './csv-records.js';
import type { CsvDialect, Newline } from './csv-records.js';
import { assertUtf8, utf16Of, wholeCharacters } from './encoding.js';
import { DatasetError } from './errors.js';
import type { LocatedFile } from './locate.js';

/** Consecutive files that are read in the same way. A plain value, passed from call to call. */
export interface CsvGroup {
  /** Number of files in the group, in the dataset's order. */
  files: number;
  dialect: CsvDialect;
  newline: Newline;
  /** Records above the first row. */
  skip: number;
  /** Names of the file's columns, in its order. */
  names: string[];
  utf16?: Utf16;
  packed?: true;
  /** Whether each session reads a copy of its own: UTF-8, with one kind of line ends, without bad rows. */
  copied?: true;
}

export interface CsvBeginning {
  group: CsvGroup;
  notes: string[];
}

const SAMPLE_ROWS = 20_480;
const MAX_BEGINNING_BYTES = 2 * MAX_RECORD_BYTES;

/** @throws DatasetError unreadable */
export async function readBeginning(file: LocatedFile, maxBytes: number): Promise<CsvBeginning> {
  const raw = await readHead(file, 4096);
  const utf16 = utf16Of(raw.bytes);
  const { bytes, isWhole } = await readHead(file, maxBytes, utf16?.encoding);
  if (!isUtf8(bytes.subarray(0, isWhole ? bytes.length : wholeCharacters(bytes)))) await assertUtf8(file);
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
      line === 2
        ? 'Line 1 stands above the table and is left out.'
        : `Lines 1 to ${line - 1} stand above the table and are left out.`,
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
    } else if (fitsWidth(record, width) && !isBlank(record, width)) {
      rows.push(fieldTexts(bytes, spans, dialect).slice(0, width));
    }
    at = record.next;
    line += record.lines;
  }
  // A very long first record or row: the header is found by the rows below it.
  if (rows.length === 0 && !isWhole && maxBytes < MAX_BEGINNING_BYTES)
    return readBeginning(file, MAX_BEGINNING_BYTES);
  if (first === undefined) throw noRecord(file, maxBytes, isWhole);
  const header = findHeader(first, rows, firstLine);
  const { names, notes: nameNotes } = columnNames(header, width);
  const newline = [...newlines][0] ?? '\n';
  // DuckDB parses quotes in skipped records differently.
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
    ...(isGzipName(file.name) && { packed: true as const }),
    ...((utf16 !== undefined || newlines.size > 1 || isOddAbove) && { copied: true as const }),
  };
  return { group, notes: [...allNotes, ...notes, ...(header.note ? [header.note] : []), ...nameNotes] };
}

function noRecord(file: LocatedFile, maxBytes: number, isWhole: boolean): DatasetError {
  const fault = isWhole
    ? 'has no line with a value; expected a header and rows'
    : `has no complete first record in its first ${maxBytes} bytes: it is no CSV, or a quote never closes`;
  return new DatasetError('unreadable', `path: ${file.name} ${fault}`);
}
