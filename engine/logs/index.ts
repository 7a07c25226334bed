/**
 * Logs of steps and of operations, page by page, while they grow and after. A page costs one read of a few pages' size,
 * wherever a cursor points; only a line number, or the numbers of the last lines, have to be counted from the start, a chunk
 * at a time.
 */
import { LonghaulError } from '../../operations/errors.js';
import {
  OPERATION_LOG,
  PAGE_BYTES,
  PAGE_LINES,
  PIECE_BYTES,
  type LogLine,
  type LogLines,
  type LogPage,
  type LogQuery,
} from '../../operations/log-page.js';
import { chooseStep, isStepEnded, stepReference, type ChosenStep } from '../../operations/steps.js';
import type { OperationRecord } from '../../operations/record.js';
import { ChunkedLog } from '../../platform/chunked-log.js';
import { logKey, operationLogPrefix } from '../../platform/storage-keys.js';
import type { Storage } from '../../platform/storage.js';
import { invalidCursor, readCursor, writeCursor, type LogCursor } from './cursor.js';
import { firstCharacter, piecesOf, readFrom, seekLine, type Piece, type Position } from './pieces.js';
import { searchLines } from './search.js';

/** A store of logs: a key each. */
export type LogStorage = Pick<Storage, 'size' | 'read'>;

/** A page ends before this much was read: pieces at the window's end are never cut by it. */
const WINDOW_BYTES = PAGE_BYTES + 2 * PIECE_BYTES;
const START: Position = { line: 1, offset: 0 };

/** The log that a query asks for: reference of a step, {@link OPERATION_LOG}, or undefined for the likeliest one. */
export function wantedLog({ step, cursor }: LogQuery): string | undefined {
  return step ?? (cursor === undefined ? undefined : readCursor(cursor).step);
}

/**
 * Reads a page of an operation's own log.
 *
 * @throws LonghaulError `invalid_arguments`, `expired`, `unavailable`
 */
export async function readOperationLog(
  storage: Storage,
  workflowId: string,
  record: OperationRecord,
  query: LogQuery,
): Promise<LogPage> {
  assertKept(record);
  assertCursorOf(query.cursor === undefined ? undefined : readCursor(query.cursor), OPERATION_LOG);
  const page = await readLogPage(operationLog(storage, workflowId), OPERATION_LOG, {
    ...query,
    step: OPERATION_LOG,
    isComplete: record.closedAt !== undefined,
    mayBeMissing: true,
  });
  return { step: OPERATION_LOG, ...page };
}

/** An operation's own log as the only value of a store. */
export function operationLog(storage: Storage, workflowId: string): LogStorage {
  const log = new ChunkedLog(storage, operationLogPrefix(workflowId));
  return { size: () => log.size(), read: (_key, range) => log.read(range!) };
}

function assertCursorOf(cursor: LogCursor | undefined, step: string): void {
  if (cursor?.step !== undefined && cursor.step !== step)
    throw new LonghaulError('invalid_arguments', `cursor: is of the step ${cursor.step}; got step ${step}`);
}

function assertKept({ status, token }: OperationRecord): void {
  if (status === 'expired') throw new LonghaulError('expired', `${token}: the operation has expired`);
}

/**
 * Reads a page of the log of one of an operation's steps.
 *
 * @param record as it was read live
 * @throws LonghaulError `invalid_arguments`, `not_found` when there is no such log, `expired`, `unavailable`
 */
export async function readStepLog(
  storage: Storage,
  workflowId: string,
  record: OperationRecord,
  query: LogQuery,
): Promise<LogPage> {
  assertKept(record);
  const cursor = query.cursor === undefined ? undefined : readCursor(query.cursor);
  const wanted = query.step ?? cursor?.step;
  const chosen = record.children ? chooseStep(record.children, wanted) : withoutRecord(record, wanted);
  const step = stepReference(chosen);
  assertCursorOf(cursor, step);
  const { status, name, logsOf, startedAt } = chosen.step ?? {};
  if (status && startedAt === undefined) {
    const why = isStepEnded({ status }) ? 'was not run' : 'has not started yet';
    throw new LonghaulError('not_found', `step ${step}: it ${why}, so there is no log`);
  }
  const key = logKey(logsOf ?? workflowId, chosen.child, chosen.position);
  const isComplete = record.closedAt !== undefined || (status !== undefined && isStepEnded({ status }));
  const page = await readLogPage(storage, key, {
    ...query,
    step,
    isComplete,
    mayBeMissing: status !== undefined,
  });
  return { step, ...(name === undefined ? {} : { name }), ...(status ? { status } : {}), ...page };
}

/** Without a worker nobody knows the steps; the log of one that is named by its position can be read nevertheless. */
function withoutRecord(
  record: OperationRecord,
  wanted: string | undefined,
): Omit<ChosenStep, 'step'> & { step?: undefined } {
  const [, child, position] = /^([^/]+)\/([1-9]\d{0,3})$/.exec(wanted ?? '') ?? [];
  if (child && position) return { child, position: Number(position) };
  if ((record.live || record.closedAt) && !record.areChildrenLarge)
    throw new LonghaulError(
      'not_found',
      `${record.token}: no steps are known; only pipelines have steps with logs. The operation's own log is the step "${OPERATION_LOG}"`,
    );
  throw new LonghaulError(
    'unavailable',
    `${record.token}: no worker answers, so its steps aren't known just now; try again shortly, or name the step by its position, as in build/2`,
  );
}

export interface PageQuery extends LogQuery {
  /** Has the step ended? */
  isComplete?: boolean;
  /** Nothing stored counts as an empty log: the step has written nothing so far. */
  mayBeMissing?: boolean;
}

/**
 * Reads a page of a log.
 *
 * @param query its `step` is only written into the cursor
 * @throws LonghaulError `invalid_arguments`, `not_found` when nothing is stored under the key, `unavailable`
 */
export async function readLogPage(storage: LogStorage, key: string, query: PageQuery): Promise<LogLines> {
  const { isComplete = false } = query;
  const cursor = query.cursor === undefined ? undefined : readCursor(query.cursor);
  assertQuery(query);
  const totalBytes = await storage.size(key);
  if (totalBytes === undefined && !query.mayBeMissing)
    throw new LonghaulError('not_found', `there is no log of the step ${query.step ?? ''}`.trimEnd());
  const sizeBytes = totalBytes ?? 0;
  if (cursor && cursor.offset > sizeBytes) throw invalidCursor();
  const fromLine = query.fromLine ?? cursor?.fromLine;
  const toLine = query.toLine ?? cursor?.toLine;
  const pattern = query.pattern ?? cursor?.pattern;
  const from = await seekLine(storage, key, cursor ?? START, fromLine ?? 1, sizeBytes);
  const isReached = from.line >= (fromLine ?? 1);
  const range = { from, toLine: toLine ?? Infinity, limit: query.limit ?? PAGE_LINES, sizeBytes, isComplete };
  const page = !isReached
    ? { lines: [], at: from, isAtEnd: true }
    : query.tail !== undefined
      ? await lastLines(storage, key, query.tail, range)
      : pattern !== undefined
        ? await searchLines(storage, key, { ...range, pattern })
        : await nextLines(storage, key, range);
  const { lines, at } = page;
  const isAtEnd = page.isAtEnd || at.offset >= sizeBytes;
  const isDone = at.line > range.toLine || (isAtEnd && isComplete);
  const next = {
    ...at,
    ...(query.step === undefined ? {} : { step: query.step }),
    ...(isReached || fromLine === undefined ? {} : { fromLine }),
    ...(toLine === undefined ? {} : { toLine }),
    ...(pattern === undefined ? {} : { pattern }),
  };
  return {
    lines,
    ...(isDone ? {} : { cursor: writeCursor(next) }),
    isAtEnd,
    isComplete,
    totalBytes: sizeBytes,
  };
}

/**
 * The lines behind a position, without a last one that is still growing, so that each is told once.
 *
 * @param isComplete has the step ended?
 */
export async function readLinesFrom(
  storage: LogStorage,
  key: string,
  from: Position,
  isComplete: boolean,
): Promise<{ lines: LogLine[]; at: Position; isAtEnd: boolean }> {
  const sizeBytes = (await storage.size(key)) ?? 0;
  if (from.offset >= sizeBytes) return { lines: [], at: from, isAtEnd: true };
  const range = { from, toLine: Infinity, limit: PAGE_LINES, sizeBytes, isComplete };
  return nextLines(storage, key, range, true);
}

interface Range {
  from: Position;
  toLine: number;
  limit: number;
  sizeBytes: number;
  isComplete: boolean;
}

interface Taken {
  lines: LogLine[];
  /** Behind the last line. */
  at: Position;
  /** There was nothing more. */
  isAtEnd: boolean;
}

/** @param leavesGrowing leave a last line that is still growing for later, unless it is longer than a piece already */
async function nextLines(
  storage: LogStorage,
  key: string,
  range: Range,
  leavesGrowing = false,
): Promise<Taken> {
  const { from, toLine, limit, sizeBytes, isComplete } = range;
  const { bytes, isContinued } = await readFrom(storage, key, from.offset, sizeBytes, WINDOW_BYTES);
  const isEnd = from.offset + bytes.length >= sizeBytes;
  const lines: LogLine[] = [];
  let at = from;
  let pageBytes = 0;
  const isFinal = isEnd && isComplete;
  for (const piece of piecesOf(bytes, from, { isContinued, isFinal, leavesGrowing })) {
    pageBytes += sizeOf(piece);
    if (lines.length >= limit || pageBytes > PAGE_BYTES || piece.line.number > toLine)
      return { lines, at, isAtEnd: false };
    lines.push(piece.line);
    at = piece.end;
  }
  return { lines, at, isAtEnd: isEnd };
}

/** The last lines; fewer when they don't fit a page, and of a single line that doesn't its end. */
async function lastLines(storage: LogStorage, key: string, count: number, range: Range): Promise<Taken> {
  const { limit, sizeBytes, isComplete } = range;
  const offset = Math.max(0, sizeBytes - WINDOW_BYTES);
  const window = await readFrom(storage, key, offset, sizeBytes, WINDOW_BYTES);
  const start = await seekLine(storage, key, START, Infinity, offset);
  const pieces = [...wholeFrom(window, start, isComplete)];
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

/** The window's lines, without the rest of a line that it begins with, unless there is no other. */
function wholeFrom(
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

function sizeOf({ line }: Piece): number {
  return Buffer.byteLength(line.text) + 1;
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
    fail('cursor: goes on behind its page; expected no first line beside it');
  if (tail !== undefined && [cursor, fromLine, toLine, pattern].some((other) => other !== undefined))
    fail('tail: expected neither a cursor nor a first line, last line or pattern beside it');
}
