/** Splits a log's bytes into lines. Cuts fall between characters, so pieces decode like the whole log, even from invalid UTF-8. */
import { PIECE_BYTES, type LogLine } from '../../operations/wire/log-page.js';
import type { ChunkedLog } from '../../platform/storage/chunked-log.js';

const NEWLINE = 0x0a;
/** Bytes to hold in memory while counting lines. */
const CHUNK_BYTES = 1024 * 1024;

export interface Position {
  /** From 1. */
  line: number;
  /** In bytes, from 0. */
  offset: number;
}

/** Line or part of one, with the position after it. */
export interface Piece {
  line: LogLine;
  end: Position;
}

/** The lines to read for a page. */
export interface Range {
  from: Position;
  toLine: number;
  limit: number;
  sizeBytes: number;
  isComplete: boolean;
}

export interface PageContent {
  lines: LogLine[];
  /** Where to continue. */
  at: Position;
  isAtEnd: boolean;
}

/** Size in a page, in bytes. */
export function sizeOf({ line }: Pick<Piece, 'line'>): number {
  return Buffer.byteLength(line.text) + 1;
}

/**
 * Yields the lines of a section of a log, in pieces of at most {@link PIECE_BYTES}.
 *
 * @param options `isContinued`: the bytes begin in the middle of a line; `isFinal`: no bytes will follow, so an incomplete character at the
 *   end is invalid; `omitsGrowingLine`: omits an unended last line that would fit into a piece
 */
export function* piecesOf(
  bytes: Buffer,
  start: Position,
  options: { isContinued: boolean; isFinal: boolean; pieceBytes?: number; omitsGrowingLine?: boolean },
): Generator<Piece> {
  const { pieceBytes = PIECE_BYTES } = options;
  let { isContinued } = options;
  let number = start.line;
  let at = 0;
  while (at < bytes.length) {
    const newline = bytes.indexOf(NEWLINE, at);
    const lineEnd = newline < 0 ? bytes.length : newline;
    if (options.omitsGrowingLine && newline < 0 && !options.isFinal && lineEnd - at <= pieceBytes) return;
    let end = lineEnd;
    if (lineEnd - at > pieceBytes) end = characterStart(bytes, at + pieceBytes);
    else if (newline < 0 && !options.isFinal) end = wholeCharactersEnd(bytes, at);
    const isUnfinished = end < lineEnd || newline < 0;
    // Only the first bytes of a character: the rest will follow.
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

/** Seeks the beginning of a line, or the end of a shorter log. */
export async function seekLine(
  log: ChunkedLog,
  from: Position,
  line: number,
  sizeBytes: number,
): Promise<Position> {
  const at = { ...from };
  while (at.line < line && at.offset < sizeBytes) {
    const lengthBytes = Math.min(CHUNK_BYTES, sizeBytes - at.offset);
    const chunk = await log.read({ from: at.offset, lengthBytes });
    if (chunk.length === 0) break;
    let end = 0;
    while (end < chunk.length && at.line < line) if (chunk[end++] === NEWLINE) at.line += 1;
    at.offset += end;
  }
  return at;
}

/** Reads at most `lengthBytes` from an offset. @returns `isContinued`: whether they begin in the middle of a line */
export async function readFrom(
  log: ChunkedLog,
  offset: number,
  sizeBytes: number,
  lengthBytes: number,
): Promise<{ bytes: Buffer; isContinued: boolean }> {
  const length = Math.min(lengthBytes, sizeBytes - offset);
  if (length <= 0) return { bytes: Buffer.alloc(0), isContinued: false };
  if (offset === 0) return { bytes: await log.read({ from: 0, lengthBytes: length }), isContinued: false };
  const bytes = await log.read({ from: offset - 1, lengthBytes: length + 1 });
  return { bytes: bytes.subarray(1), isContinued: bytes[0] !== NEWLINE };
}

/** Index of the first byte of the character at `at`. */
export function characterStart(bytes: Buffer, at: number): number {
  for (let start = at; start > at - 4 && start >= 0; start -= 1)
    if (!isContinuation(bytes[start]!)) return start;
  // Four continuation bytes in a row are invalid anyway: cut anywhere.
  return at;
}

/** Index of the first byte that begins a character. */
export function firstCharacter(bytes: Buffer): number {
  for (let at = 0; at < 4 && at < bytes.length; at += 1) if (!isContinuation(bytes[at]!)) return at;
  return 0;
}

/** End of the last complete character, at least `from`. */
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
