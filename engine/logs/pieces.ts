/**
 * A log's bytes as lines. What is cut is cut between characters: a piece decodes to the same text as it does within
 * the whole log, also where the bytes are no UTF-8.
 */
import { PIECE_BYTES, type LogLine } from '../../operations/log-page.js';
import type { Storage } from '../../platform/storage.js';

const NEWLINE = 0x0a;
/** How much of a log is in memory at once while lines are counted, in bytes. */
const CHUNK_BYTES = 1024 * 1024;

/** A place in a log. */
export interface Position {
  /** From 1. */
  line: number;
  /** In bytes, from 0. */
  offset: number;
}

/** A line or a part of one, and where it ends. */
export interface Piece {
  line: LogLine;
  end: Position;
}

/**
 * The lines of a part of a log, in pieces of at most {@link PIECE_BYTES}.
 *
 * @param start where the bytes begin
 * @param options `isContinued`: they begin in the middle of a line; `isFinal`: nothing ever follows them, so that a
 *   character that isn't whole at their end is none; `leavesGrowing`: leave a last line without an end that would fit a piece
 */
export function* piecesOf(
  bytes: Buffer,
  start: Position,
  options: { isContinued: boolean; isFinal: boolean; pieceBytes?: number; leavesGrowing?: boolean },
): Generator<Piece> {
  const { pieceBytes = PIECE_BYTES } = options;
  let { isContinued } = options;
  let number = start.line;
  let at = 0;
  while (at < bytes.length) {
    const newline = bytes.indexOf(NEWLINE, at);
    const lineEnd = newline < 0 ? bytes.length : newline;
    if (options.leavesGrowing && newline < 0 && !options.isFinal && lineEnd - at <= pieceBytes) return;
    let end = lineEnd;
    if (lineEnd - at > pieceBytes) end = characterStart(bytes, at + pieceBytes);
    else if (newline < 0 && !options.isFinal) end = wholeCharactersEnd(bytes, at);
    const isUnfinished = end < lineEnd || newline < 0;
    // Nothing but the beginning of a character: its rest is yet to come.
    if (end === at && isUnfinished) return;
    const text = bytes.toString('utf8', at, end);
    const line: LogLine = { number, text };
    if (isContinued) line.isContinued = true;
    if (isUnfinished) line.isUnfinished = true;
    at = isUnfinished ? end : end + 1;
    if (!isUnfinished) number += 1;
    yield { line, end: { line: number, offset: start.offset + at } };
    isContinued = isUnfinished;
    if (isUnfinished && end === lineEnd) return;
  }
}

/** Where the first line from `line` on begins; the end of the log when it has fewer lines. */
export async function seekLine(
  storage: Pick<Storage, 'read'>,
  key: string,
  from: Position,
  line: number,
  sizeBytes: number,
): Promise<Position> {
  const at = { ...from };
  while (at.line < line && at.offset < sizeBytes) {
    const lengthBytes = Math.min(CHUNK_BYTES, sizeBytes - at.offset);
    const chunk = await storage.read(key, { from: at.offset, lengthBytes });
    if (chunk.length === 0) break;
    let end = 0;
    while (end < chunk.length && at.line < line) if (chunk[end++] === NEWLINE) at.line += 1;
    at.offset += end;
  }
  return at;
}

/** A part of a log from an offset on, at most so long; and whether it begins in the middle of a line. */
export async function readFrom(
  storage: Pick<Storage, 'read'>,
  key: string,
  offset: number,
  sizeBytes: number,
  lengthBytes: number,
): Promise<{ bytes: Buffer; isContinued: boolean }> {
  const length = Math.min(lengthBytes, sizeBytes - offset);
  if (length <= 0) return { bytes: Buffer.alloc(0), isContinued: false };
  if (offset === 0)
    return { bytes: await storage.read(key, { from: 0, lengthBytes: length }), isContinued: false };
  const bytes = await storage.read(key, { from: offset - 1, lengthBytes: length + 1 });
  return { bytes: bytes.subarray(1), isContinued: bytes[0] !== NEWLINE };
}

/** The first byte of the character that the byte at `at` belongs to. */
export function characterStart(bytes: Buffer, at: number): number {
  for (let start = at; start > at - 4 && start >= 0; start -= 1)
    if (!isContinuation(bytes[start]!)) return start;
  // Four such bytes in a row are no character's: any place is as good.
  return at;
}

/** Where the first character begins, in bytes that may begin within one. */
export function firstCharacter(bytes: Buffer): number {
  for (let at = 0; at < 4 && at < bytes.length; at += 1) if (!isContinuation(bytes[at]!)) return at;
  return 0;
}

/** Where the last whole character ends, no earlier than `from`. */
function wholeCharactersEnd(bytes: Buffer, from: number): number {
  const last = characterStart(bytes, bytes.length - 1);
  if (last < from) return bytes.length;
  const lead = bytes[last]!;
  const length = lead >= 0xf0 && lead <= 0xf4 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 1;
  return lead <= 0xf4 && last + length > bytes.length ? last : bytes.length;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}
