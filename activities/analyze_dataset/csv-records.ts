/**
 * Splits CSV text into records, as DuckDB does in strict mode: RFC 4180 plus spaces around a quoted field, quotes inside
 * an unquoted one, and any number of empty fields too many at the end of a line. DuckDB's own errors number records, not
 * lines, and its ignore_errors loses and repeats rows once quotes are broken, so faults are located and skipped here.
 */
export interface CsvDialect {
  /** One ASCII character. */
  delimiter: string;
  /** One ASCII character, or empty where quotes are ordinary characters. */
  quote: string;
  /** The quote itself (doubled), or a backslash before it. */
  escape: string;
}

export type Newline = '\n' | '\r\n' | '\r';

export interface CsvRecord {
  start: number;
  /** End of the record's bytes, without its line end. */
  end: number;
  /** Start of the next record. */
  next: number;
  fields: number;
  /** Number of the last field that isn't empty; 0 for a record of empty fields. */
  filled: number;
  /** Lines of the file that the record covers. */
  lines: number;
  /** Undefined at the end of a file without a last line end. */
  newline?: Newline;
  /** Set for a record that is ended after its first line, so that the next line is read as a record. */
  fault?: 'text after a closing quote' | 'a quote that never closes' | 'more than 16 MB in one record';
}

/** A single line that is longer than any record may be. */
export class RecordTooLong extends Error {
  constructor(readonly line: number) {
    super(`line ${line} is too long`);
  }
}

/** DuckDB's limit for one record, set by `max_line_size`. */
export const MAX_RECORD_BYTES = 16_000_000;

const LF = 10;
const CR = 13;
const SPACE = 32;

/**
 * Reads the record that starts at `start`. Undefined when `bytes` end within it, unless they are the file's last.
 *
 * @param spans receives start, end and whether it is quoted (0 or 1) of every field
 */
export function readRecord(
  bytes: Buffer,
  start: number,
  dialect: CsvDialect,
  isLast: boolean,
  spans?: number[],
): CsvRecord | undefined {
  const delimiter = dialect.delimiter.charCodeAt(0);
  const quote = dialect.quote === '' ? -1 : dialect.quote.charCodeAt(0);
  const backslash = dialect.escape === dialect.quote || quote === -1 ? -1 : dialect.escape.charCodeAt(0);
  const { plain, quoted } = stopsOf(dialect);
  const end = bytes.length;
  let fields = 0;
  let filled = 0;
  let lines = 1;
  let at = start;
  for (;;) {
    let fieldStart = at;
    let fieldEnd: number;
    let isQuoted = false;
    let first = at;
    while (first < end && bytes[first] === SPACE) first += 1;
    if (first < end && bytes[first] === quote) {
      isQuoted = true;
      fieldStart = first + 1;
      at = fieldStart;
      for (;;) {
        while (at < end && quoted[bytes[at]!] === 0) at += 1;
        if (at >= end) return isLast ? faulty(bytes, start, 'a quote that never closes') : undefined;
        const byte = bytes[at]!;
        if (byte === LF || byte === CR) {
          if (byte === CR && at + 1 < end && bytes[at + 1] === LF) at += 1;
          lines += 1;
          at += 1;
        } else if (byte === backslash) {
          at += 2;
        } else if (backslash === -1 && at + 1 < end && bytes[at + 1] === quote) {
          at += 2;
        } else {
          if (at + 1 >= end && !isLast) return undefined;
          break;
        }
      }
      fieldEnd = at;
      at += 1;
      while (at < end && bytes[at] === SPACE) at += 1;
      if (at < end && bytes[at] !== delimiter && bytes[at] !== LF && bytes[at] !== CR)
        return faulty(bytes, start, 'text after a closing quote');
    } else {
      at = first;
      while (at < end && plain[bytes[at]!] === 0) at += 1;
      fieldEnd = at;
    }
    fields += 1;
    if (fieldEnd > fieldStart) filled = fields;
    spans?.push(fieldStart, fieldEnd, isQuoted ? 1 : 0);
    if (at >= end) {
      return isLast ? { start, end, next: end, fields, filled, lines } : undefined;
    }
    if (bytes[at] === delimiter) {
      at += 1;
      continue;
    }
    if (bytes[at] === CR && at + 1 >= end && !isLast) return undefined;
    const newline = newlineAt(bytes, at);
    return { start, end: at, next: at + newline.length, fields, filled, lines, newline };
  }
}

/** Text of the fields whose `spans` were read. */
export function fieldTexts(bytes: Buffer, spans: readonly number[], dialect: CsvDialect): string[] {
  const texts: string[] = [];
  const doubled = dialect.quote + dialect.quote;
  for (let index = 0; index < spans.length; index += 3) {
    const text = bytes.toString('utf8', spans[index], spans[index + 1]);
    if (spans[index + 2] === 0) texts.push(text);
    else if (dialect.escape === dialect.quote) texts.push(text.replaceAll(doubled, dialect.quote));
    else texts.push(text.replace(/\\([^])/g, '$1'));
  }
  return texts;
}

/** Bytes of a UTF-8 byte order mark at the start of a file. */
export function bomLength(bytes: Buffer): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}

/** @param visit is called with the window that holds the record, and the number of its first line */
export async function eachRecord(
  content: AsyncIterable<Buffer>,
  dialect: CsvDialect,
  visit: (record: CsvRecord, window: Buffer, line: number) => void,
  afterWindow: () => Promise<void> = async () => undefined,
): Promise<void> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let neededBytes = 0;
  let line = 1;
  let isFirst = true;
  const consume = async (isLast: boolean) => {
    const window = pending.length === 1 ? pending[0]! : Buffer.concat(pending);
    let at = isFirst ? bomLength(window) : 0;
    isFirst = false;
    while (at < window.length) {
      let record = readRecord(window, at, dialect, isLast);
      if (!record && window.length - at <= MAX_RECORD_BYTES) break;
      if (!record || record.end - at > MAX_RECORD_BYTES)
        record = faulty(window, at, 'more than 16 MB in one record');
      if (record.newline === undefined && !isLast) throw new RecordTooLong(line);
      visit(record, window, line);
      line += record.lines;
      at = record.next;
    }
    await afterWindow();
    const rest = window.subarray(at);
    pending = rest.length > 0 ? [rest] : [];
    pendingBytes = rest.length;
    // A record longer than the window is retried only after the window has doubled.
    neededBytes = 2 * rest.length;
  };
  for await (const chunk of content) {
    pending.push(chunk);
    pendingBytes += chunk.length;
    if (pendingBytes >= neededBytes) await consume(false);
  }
  if (pendingBytes > 0) await consume(true);
}

/** Tables of the bytes at which a run of ordinary ones ends, outside and inside of quotes. */
const stops = new WeakMap<CsvDialect, { plain: Uint8Array; quoted: Uint8Array }>();

function stopsOf(dialect: CsvDialect): { plain: Uint8Array; quoted: Uint8Array } {
  const known = stops.get(dialect);
  if (known) return known;
  const { delimiter, quote, escape } = dialect;
  const table = (characters: string) => {
    const marked = new Uint8Array(256);
    for (const byte of Buffer.from(characters, 'latin1')) marked[byte] = 1;
    return marked;
  };
  const made = { plain: table(`${delimiter}\n\r`), quoted: table(`${quote}${escape}\n\r`) };
  stops.set(dialect, made);
  return made;
}

function faulty(bytes: Buffer, start: number, fault: NonNullable<CsvRecord['fault']>): CsvRecord {
  let at = start;
  while (at < bytes.length && bytes[at] !== LF && bytes[at] !== CR) at += 1;
  if (at >= bytes.length) return { start, end: at, next: at, fields: 1, filled: 1, lines: 1, fault };
  const newline = newlineAt(bytes, at);
  return { start, end: at, next: at + newline.length, fields: 1, filled: 1, lines: 1, newline, fault };
}

function newlineAt(bytes: Buffer, at: number): Newline {
  if (bytes[at] === LF) return '\n';
  return bytes[at + 1] === LF ? '\r\n' : '\r';
}
