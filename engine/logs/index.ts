/** Pages of a log. A page costs one read at any cursor; otherwise lines are counted from the start. */
import { z } from 'zod';
import { attempt, LonghaulError } from '../../operations/errors.js';
import {
  PAGE_BYTES,
  PAGE_LINES,
  PIECE_BYTES,
  type LogLine,
  type LogLines,
  type LogQuery,
  PATTERN_CHARACTERS,
} from '../../operations/wire/log-page.js';
import type { ChunkedLog } from '../../platform/storage/chunked-log.js';
import {
  firstCharacter,
  piecesOf,
  readFrom,
  seekLine,
  sizeOf,
  type PageContent,
  type Piece,
  type Position,
  type Range,
} from './pieces.js';
import { searchLines } from './search.js';

/** Bytes to read for a page: more than it holds, so the window's end cuts no piece. */
const WINDOW_BYTES = PAGE_BYTES + 2 * PIECE_BYTES;
const START: Position = { line: 1, offset: 0 };

const lineNumber = z.number().int().min(1).max(Number.MAX_SAFE_INTEGER);

/** Cursors aren't sealed, since access is checked on the record. */
const cursorSchema = z.strictObject({
  step: z.string().min(1).max(1000).optional(),
  /** Line at `offset`, from 1. */
  line: lineNumber,
  /** In bytes, from 0. */
  offset: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
  fromLine: lineNumber.optional(),
  toLine: lineNumber.optional(),
  pattern: z.string().max(PATTERN_CHARACTERS).optional(),
});

type LogCursor = z.infer<typeof cursorSchema>;

function writeCursor(cursor: LogCursor): string {
  return Buffer.from(JSON.stringify(cursor)).toString('base64url');
}

/** Decodes a query's cursor. @throws LonghaulError `invalid_arguments` */
export function cursorOf({ cursor: text }: LogQuery): LogCursor | undefined {
  if (text === undefined) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  // Buffer ignores characters outside base64url.
  if (bytes.toString('base64url') !== text) throw invalidCursor();
  const cursor = cursorSchema.safeParse(attempt(() => JSON.parse(bytes.toString()) as unknown));
  if (!cursor.success) throw invalidCursor();
  return cursor.data;
}

function invalidCursor(): LonghaulError {
  return new LonghaulError(
    'invalid_arguments',
    'cursor: expected one from an earlier page of this log, unchanged; got another text',
  );
}

export interface PageQuery extends LogQuery {
  /** Whether the step has ended. Default: false. */
  isComplete?: boolean;
  /** Whether a missing log counts as empty, because the step hasn't written yet. Default: false. */
  mayBeMissing?: boolean;
}

/** @param query `step` is for the cursor only @throws LonghaulError `invalid_arguments`, `not_found` if the log is empty, `unavailable` */
export async function readLogPage(log: ChunkedLog, query: PageQuery): Promise<LogLines> {
  const { isComplete = false } = query;
  const cursor = cursorOf(query);
  assertQuery(query);
  const totalBytes = await log.size();
  if (totalBytes === undefined && !query.mayBeMissing)
    throw new LonghaulError('not_found', `there is no log of the step ${query.step ?? ''}`.trimEnd());
  const sizeBytes = totalBytes ?? 0;
  if (cursor && cursor.offset > sizeBytes) throw invalidCursor();
  const fromLine = query.fromLine ?? cursor?.fromLine;
  const toLine = query.toLine ?? cursor?.toLine;
  const pattern = query.pattern ?? cursor?.pattern;
  const from = await seekLine(log, cursor ?? START, fromLine ?? 1, sizeBytes);
  const isReached = from.line >= (fromLine ?? 1);
  const range = { from, toLine: toLine ?? Infinity, limit: query.limit ?? PAGE_LINES, sizeBytes, isComplete };
  const page = !isReached
    ? { lines: [], at: from, isAtEnd: true }
    : query.tail !== undefined
      ? await lastLines(log, query.tail, range)
      : pattern !== undefined
        ? await searchLines(log, { ...range, pattern })
        : await nextLines(log, range);
  const { lines, at } = page;
  const isAtEnd = page.isAtEnd || at.offset >= sizeBytes;
  const isDone = at.line > range.toLine || (isAtEnd && isComplete);
  const next = { ...at, step: query.step, fromLine: isReached ? undefined : fromLine, toLine, pattern };
  return {
    lines,
    ...(isDone ? {} : { cursor: writeCursor(next) }),
    isAtEnd,
    isComplete,
    totalBytes: sizeBytes,
  };
}

/** Reads the lines after a position. Leaves a growing last line, so each line comes once. @param isComplete whether the step has ended */
export async function readLinesFrom(
  log: ChunkedLog,
  from: Position,
  isComplete: boolean,
): Promise<PageContent> {
  const sizeBytes = (await log.size()) ?? 0;
  if (from.offset >= sizeBytes) return { lines: [], at: from, isAtEnd: true };
  const range = { from, toLine: Infinity, limit: PAGE_LINES, sizeBytes, isComplete };
  return nextLines(log, range, true);
}

/** @param omitsGrowingLine omits a growing last line, unless it is longer than a piece */
async function nextLines(log: ChunkedLog, range: Range, omitsGrowingLine = false): Promise<PageContent> {
  const { from, toLine, limit, sizeBytes, isComplete } = range;
  const { bytes, isContinued } = await readFrom(log, from.offset, sizeBytes, WINDOW_BYTES);
  const isEnd = from.offset + bytes.length >= sizeBytes;
  const lines: LogLine[] = [];
  let at = from;
  let pageBytes = 0;
  const isFinal = isEnd && isComplete;
  for (const piece of piecesOf(bytes, from, { isContinued, isFinal, omitsGrowingLine })) {
    pageBytes += sizeOf(piece);
    if (lines.length >= limit || pageBytes > PAGE_BYTES || piece.line.number > toLine)
      return { lines, at, isAtEnd: false };
    lines.push(piece.line);
    at = piece.end;
  }
  return { lines, at, isAtEnd: isEnd };
}

/** Reads the last lines: fewer if they don't fit into a page, and only the end of a single line that is too long. */
async function lastLines(log: ChunkedLog, count: number, range: Range): Promise<PageContent> {
  const { limit, sizeBytes, isComplete } = range;
  const offset = Math.max(0, sizeBytes - WINDOW_BYTES);
  const window = await readFrom(log, offset, sizeBytes, WINDOW_BYTES);
  const start = await seekLine(log, START, Infinity, offset);
  const pieces = [...wholeLines(window, start, isComplete)];
  const last = pieces.at(-1);
  if (!last) return { lines: [], at: start, isAtEnd: true };
  let first = pieces.length;
  let pageBytes = 0;
  while (first > 0) {
    const piece = pieces[first - 1]!;
    pageBytes += sizeOf(piece);
    const isEnough = pieces.length - first >= limit || pageBytes > PAGE_BYTES;
    if (isEnough || piece.line.number <= last.line.number - count) break;
    first -= 1;
  }
  const shown = pieces.slice(first).map(({ line }) => line);
  const whole = shown.findIndex(({ isContinued }) => !isContinued);
  return { lines: shown.slice(Math.max(0, whole)), at: last.end, isAtEnd: true };
}

/** Lines of the window, without a cut line at its beginning unless it is the only one. */
function wholeLines(
  { bytes, isContinued }: { bytes: Buffer; isContinued: boolean },
  start: Position,
  isFinal: boolean,
): Iterable<Piece> {
  const newline = bytes.indexOf('\n');
  const isCut = isContinued && newline >= 0 && newline < bytes.length - 1;
  const skipped = isCut ? newline + 1 : isContinued ? firstCharacter(bytes) : 0;
  const from = { line: start.line + (isCut ? 1 : 0), offset: start.offset + skipped };
  return piecesOf(bytes.subarray(skipped), from, { isContinued: isContinued && !isCut, isFinal });
}

/** @throws LonghaulError `invalid_arguments` */
function assertQuery({ fromLine, toLine, tail, pattern, cursor, limit }: LogQuery): void {
  const fail = (message: string) => {
    throw new LonghaulError('invalid_arguments', message);
  };
  const isBetween = (value: number, most: number) =>
    Number.isSafeInteger(value) && value >= 1 && value <= most;
  for (const [name, value, most] of [
    ['first line', fromLine, Number.MAX_SAFE_INTEGER],
    ['last line', toLine, Number.MAX_SAFE_INTEGER],
    ['tail', tail, PAGE_LINES],
    ['limit', limit, PAGE_LINES],
  ] as const) {
    if (value !== undefined && !isBetween(value, most))
      fail(`${name}: expected a whole number from 1 to ${most}; got ${value}`);
  }
  if (fromLine !== undefined && toLine !== undefined && toLine < fromLine)
    fail(`last line: expected ${fromLine} or more, which is the first; got ${toLine}`);
  if (cursor !== undefined && fromLine !== undefined)
    fail("cursor: continues after its page, so it can't be used with a first line");
  if (tail !== undefined && [cursor, fromLine, toLine, pattern].some((other) => other !== undefined))
    fail("tail: can't be used with a cursor, first line, last line or pattern");
}
