/** Search for the lines of a log that match a pattern. */
import { PAGE_BYTES, PIECE_BYTES, type LogLine, PATTERN_CHARACTERS } from '../../operations/wire/log-page.js';
import type { ChunkedLog } from '../../platform/storage/chunked-log.js';
import {
  characterStart,
  piecesOf,
  readFrom,
  sizeOf,
  type PageContent,
  type Piece,
  type Position,
  type Range,
} from './pieces.js';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { LonghaulError } from '../../operations/errors.js';

/** Longest line that is searched whole: 1 MiB. Longer lines are searched in parts of this size. */
const PART_BYTES = 1024 * 1024;
/** Maximum bytes searched for one page. */
const SEARCH_BYTES = 64 * 1024 * 1024;
const BATCH_LINES = 4_000;
/** Context before a match in a long line, in UTF-16 units. */
const LEAD_UNITS = 512;

interface Search extends Range {
  pattern: string;
}

/**
 * Searches until a page is full, the log ends, or {@link SEARCH_BYTES} have been searched. Leaves a growing last line for a later page.
 *
 * @throws LonghaulError `invalid_arguments`, `unavailable`
 */
export async function searchLines(log: ChunkedLog, search: Search): Promise<PageContent> {
  const page = new FoundLines(search);
  const matcher = new LineMatcher(search.pattern);
  let isAtEnd = false;
  const end = Math.min(search.sizeBytes, search.from.offset + SEARCH_BYTES);
  try {
    while (page.at.offset < end && !page.isFull) {
      const before = page.at.offset;
      for (const batch of batches(await readParts(log, page.at, search))) {
        const found = await matcher.find(batch.map(({ line }) => line.text));
        for (let index = 0; index < batch.length && !page.isFull; index += 1)
          page.add(batch[index]!, found[index]!);
        if (page.isFull) break;
      }
      isAtEnd = !page.isFull && page.at.offset === before;
      if (isAtEnd) break;
    }
  } finally {
    await matcher.close();
  }
  return { lines: page.lines, at: page.at, isAtEnd };
}

class FoundLines {
  readonly lines: LogLine[] = [];
  at: Position;
  isFull = false;
  #bytes = 0;

  constructor(private readonly search: Search) {
    this.at = search.from;
    this.isFull = this.at.line > search.toLine;
  }

  add(piece: Piece, foundAt: number): void {
    if (foundAt >= 0) {
      const line = excerpt(piece, foundAt);
      const bytes = sizeOf({ line });
      if (this.lines.length > 0 && this.#bytes + bytes > PAGE_BYTES) {
        this.isFull = true;
        return;
      }
      this.lines.push(line);
      this.#bytes += bytes;
    }
    this.at = piece.end;
    this.isFull = this.lines.length >= this.search.limit || this.at.line > this.search.toLine;
  }
}

/** Reads whole lines, or a part of a line over {@link PART_BYTES}. */
async function readParts(
  log: ChunkedLog,
  at: Position,
  { sizeBytes, isComplete, toLine }: Search,
): Promise<Iterable<Piece>> {
  const { bytes, isContinued } = await readFrom(log, at.offset, sizeBytes, PART_BYTES);
  const isEnd = at.offset + bytes.length >= sizeBytes;
  const pieces = piecesOf(bytes, at, {
    isContinued,
    isFinal: isEnd && isComplete,
    pieceBytes: PART_BYTES,
  });
  return (function* () {
    let isFirst = true;
    for (const piece of pieces) {
      if (piece.line.number > toLine) return;
      const isPart = isFirst && bytes.length === PART_BYTES;
      if (piece.line.isUnfinished && !(isEnd && isComplete) && !isPart) return;
      yield piece;
      isFirst = false;
    }
  })();
}

function* batches(pieces: Iterable<Piece>): Generator<Piece[]> {
  let batch: Piece[] = [];
  for (const piece of pieces) {
    batch.push(piece);
    if (batch.length < BATCH_LINES) continue;
    yield batch;
    batch = [];
  }
  if (batch.length) yield batch;
}

/** The line, or an excerpt around the match if it's too long for a page. */
function excerpt({ line }: Piece, foundAt: number): LogLine {
  const lineBytes = Buffer.byteLength(line.text);
  if (lineBytes <= PIECE_BYTES) return line;
  const isLow = (at: number) => (line.text.charCodeAt(at) & 0xfc00) === 0xdc00;
  let start = Math.max(0, foundAt - LEAD_UNITS);
  if (start > 0 && isLow(start)) start -= 1;
  const bytes = Buffer.from(line.text.slice(start, start + PIECE_BYTES));
  const end = bytes.length > PIECE_BYTES ? characterStart(bytes, PIECE_BYTES) : bytes.length;
  const text = bytes.toString('utf8', 0, end);
  return {
    number: line.number,
    text,
    ...(start > 0 || line.isContinued ? { isContinued: true } : {}),
    ...(start + text.length < line.text.length || line.isUnfinished ? { isUnfinished: true } : {}),
    lineBytes,
  };
}

/** Time limit for a batch of some thousand lines, in milliseconds; a few are usually enough. */
const FIND_LIMIT_MS = 3_000;
/** Maximum number of concurrent searches per process; each has a thread. */
const MAX_SEARCHES = 8;

/** Answers with the index of the match in each line, or -1. Source text runs the same from any build. */
const THREAD = `
const { parentPort, workerData } = require('node:worker_threads');
const pattern = new RegExp(workerData);
parentPort.on('message', (lines) => parentPort.postMessage(lines.map((line) => line.search(pattern))));
`;

let openSearches = 0;

/**
 * Searches lines for a caller's regular expression. Backtracking can take years for forty characters and would block the event loop, so
 * each search has a thread with little memory and a time limit.
 */
class LineMatcher {
  readonly #thread: Worker;

  /** @throws LonghaulError `invalid_arguments` for an invalid regular expression, `unavailable` at too many searches */
  constructor(pattern: string) {
    assertPattern(pattern);
    if (openSearches >= MAX_SEARCHES)
      throw new LonghaulError('unavailable', 'too many logs are being searched; try again shortly');
    this.#thread = new Worker(THREAD, {
      eval: true,
      workerData: pattern,
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16 },
    });
    openSearches += 1;
    // An error between searches ends the thread, so the next `find` fails.
    this.#thread.on('error', () => undefined);
    this.#thread.once('exit', () => (openSearches -= 1));
  }

  /** @returns index of the match in each line, or -1 @throws LonghaulError `invalid_arguments` if it takes too long */
  async find(lines: string[]): Promise<number[]> {
    const done = new AbortController();
    const timer = setTimeout(() => done.abort(), FIND_LIMIT_MS);
    try {
      this.#thread.postMessage(lines);
      const [found] = (await once(this.#thread, 'message', { signal: done.signal })) as [number[]];
      return found;
    } catch (error) {
      throw new LonghaulError(
        'invalid_arguments',
        `pattern: takes too long or too much memory on this log; expected a simpler one, without repetitions in repetitions`,
        { cause: error },
      );
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    await this.#thread.terminate();
  }
}

function assertPattern(pattern: string): void {
  if (pattern.length === 0 || pattern.length > PATTERN_CHARACTERS) {
    throw new LonghaulError(
      'invalid_arguments',
      `pattern: expected 1 to ${PATTERN_CHARACTERS} characters; got ${pattern.length}`,
    );
  }
  try {
    new RegExp(pattern);
  } catch (error) {
    throw new LonghaulError('invalid_arguments', `pattern: ${(error as Error).message}`);
  }
}
