/** Reads a whole CSV file record by record: to find the lines that don't fit, or to write a copy without them. */
import { open, type FileHandle } from 'node:fs/promises';
import { fitsWidth, isBlank } from './csv-dialect.js';
import { contentOf } from './content.js';
import type { CsvGroup } from './csv-beginning.js';
import { eachRecord, RecordTooLong } from './csv-records.js';
import type { CsvRecord, Newline } from './csv-records.js';
import { DatasetError } from './errors.js';
import type { LocatedFile } from './locate.js';

export interface BadRow {
  /** Number of its first line in the file, from 1. */
  line: number;
  /** Number of fields; undefined with a fault in its quotes. */
  fields?: number;
  fault?: string;
  /** Its beginning. */
  text: string;
}

export interface CsvScan {
  rows: number;
  /** Number of `rows` that are blank lines in a file of one column. */
  blankRows: number;
  badRows: number;
  /** The first ones. */
  examples: BadRow[];
  /** Line ends outside of quotes. */
  newlines: Newline[];
  /** Whether a row has a line end within quotes. */
  hasQuotedLineEnds: boolean;
}

const MAX_EXAMPLES = 10;
const MAX_EXAMPLE_CHARACTERS = 100;

/** @param copyPath file for the rows that fit, without the preamble and header, each ended by a line feed */
export async function scanCsv(
  source: LocatedFile,
  { dialect, names, skip, utf16 }: CsvGroup,
  copyPath?: string,
): Promise<CsvScan> {
  const scan: CsvScan = {
    rows: 0,
    blankRows: 0,
    badRows: 0,
    examples: [],
    newlines: [],
    hasQuotedLineEnds: false,
  };
  const file = copyPath === undefined ? undefined : await open(copyPath, 'wx');
  const copy = file && new Copy(file);
  const width = names.length;
  let seen = 0;
  const visit = (record: CsvRecord, window: Buffer, line: number) => {
    if (record.newline !== undefined && !scan.newlines.includes(record.newline))
      scan.newlines.push(record.newline);
    seen += 1;
    if (seen <= skip || isBlank(record, width)) return;
    if (fitsWidth(record, width)) {
      scan.rows += 1;
      if (record.lines > 1) scan.hasQuotedLineEnds = true;
      if (record.end === record.start) scan.blankRows += 1;
      copy?.add(window, record);
      return;
    }
    scan.badRows += 1;
    if (scan.examples.length < MAX_EXAMPLES) scan.examples.push(badRowOf(record, window, line));
  };
  try {
    await eachRecord(contentOf(source, utf16), dialect, visit, async () => copy?.flush());
  } catch (thrown) {
    throw thrown instanceof RecordTooLong ? tooLong(source, thrown) : thrown;
  } finally {
    await file?.close();
  }
  return scan;
}

export function badRowOf(record: CsvRecord, window: Buffer, line: number): BadRow {
  const { start, end, fields, fault } = record;
  const text = window.toString('utf8', start, Math.min(end, start + 4 * MAX_EXAMPLE_CHARACTERS));
  return {
    line,
    ...(fault ? { fault } : { fields }),
    text: text.length > MAX_EXAMPLE_CHARACTERS ? `${text.slice(0, MAX_EXAMPLE_CHARACTERS)}…` : text,
  };
}

function tooLong({ name }: LocatedFile, { line }: RecordTooLong): DatasetError {
  return new DatasetError(
    'unreadable',
    `path: ${name} is expected to be CSV; its line ${line} is longer than 16 MB`,
  );
}

/** Joins neighbouring records, so that a clean file is written in large pieces. */
class Copy {
  #pieces: Buffer[] = [];
  #window: Buffer | undefined;
  #from = 0;
  #to = 0;

  constructor(private readonly file: FileHandle) {}

  add(window: Buffer, record: CsvRecord): void {
    if (this.#window !== window || this.#to !== record.start) {
      this.#cut();
      this.#window = window;
      this.#from = record.start;
    }
    const endsInLineFeed = record.newline === '\n';
    this.#to = endsInLineFeed ? record.next : record.end;
    if (endsInLineFeed) return;
    this.#cut();
    this.#pieces.push(LINE_FEED);
  }

  async flush(): Promise<void> {
    this.#cut();
    const pieces = this.#pieces;
    this.#pieces = [];
    if (pieces.length > 0) await this.file.appendFile(Buffer.concat(pieces));
  }

  #cut(): void {
    if (this.#window) this.#pieces.push(this.#window.subarray(this.#from, this.#to));
    this.#window = undefined;
  }
}

const LINE_FEED = Buffer.from('\n');
