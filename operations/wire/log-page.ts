/** Queries and pages of a step's log or an operation's own. */
import type { ChildStatus } from '../record.js';

/** Reference of an operation's own log; others are steps. A job of this name is still reachable by its steps: `operation/1`. */
export const OPERATION_LOG = 'operation';

export const PAGE_LINES = 200;
/** Maximum text of a page, in bytes of UTF-8: 16 KiB. */
export const PAGE_BYTES = 16 * 1024;
/** Maximum characters of a log sent as text; may be exceeded by one page. */
export const TEXT_CHARACTERS = 256 * 1024;
/** Maximum piece of a line, in bytes: 4 KiB. */
export const PIECE_BYTES = 4 * 1024;
export const PATTERN_CHARACTERS = 200;

export interface LogQuery {
  /** Reference of a step ({@link chooseStep}), or {@link OPERATION_LOG}. Default: a step of a pipeline, or else the operation's own log. */
  step?: string;
  fromLine?: number;
  toLine?: number;
  /** The last lines, as many as fit a page; 1 to {@link PAGE_LINES}. Not with the other forms. */
  tail?: number;
  /** Only lines that match this JavaScript regular expression. */
  pattern?: string;
  /** Cursor of an earlier page: continues after it, with its step, last line and pattern. */
  cursor?: string;
  /** Maximum entries in the page. Default and limit: {@link PAGE_LINES}. */
  limit?: number;
}

/** A line, or a piece of one that is longer than {@link PIECE_BYTES} or still growing. */
export interface LogLine {
  /** Number of the line, from 1. It never changes. */
  number: number;
  /** U+FFFD replaces invalid UTF-8. */
  text: string;
  isContinued?: true;
  /** The line continues after this piece, or hasn't ended yet. */
  isUnfinished?: true;
  /** Length of the whole line in bytes, if a pattern matched a line too long to show. */
  lineBytes?: number;
}

export interface LogLines {
  lines: LogLine[];
  /** Cursor of the next page; missing if no more can come. */
  cursor?: string;
  /** The page reaches the log's current end. More may come unless it is complete. */
  isAtEnd: boolean;
  /** Whether the step or operation has ended, so its log no longer grows. */
  isComplete: boolean;
  totalBytes: number;
}

export interface LogPage extends LogLines {
  /** Reference of the step, `build/2`, or {@link OPERATION_LOG}. */
  step: string;
  /** The step's name; missing if no worker answered, and in the operation's own log. */
  name?: string;
  status?: ChildStatus;
}
