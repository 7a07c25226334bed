/** Queries and pages of a log, of a step or of the operation itself. */
import type { ChildStatus } from './record.js';

/** Reference of an operation's own log; other references are steps. A job of this name is referred to by its steps, as in `operation/1`. */
export const OPERATION_LOG = 'operation';

/** Most lines of a page. */
export const PAGE_LINES = 200;
/** Most text of a page, in bytes of UTF-8: 16 KiB. */
export const PAGE_BYTES = 16 * 1024;
/** Most characters of a log as text that are sent at once, exceeded by at most one page. */
export const TEXT_CHARACTERS = 256 * 1024;
/** Longest piece of a line, in bytes: 4 KiB. */
export const PIECE_BYTES = 4 * 1024;
/** Longest pattern, in characters. */
export const PATTERN_CHARACTERS = 200;

export interface LogQuery {
  /**
   * Reference of a step, see {@link chooseStep}, or {@link OPERATION_LOG}. Default: a step for a pipeline, the operation's own
   * log otherwise.
   */
  step?: string;
  /** First line, from 1. */
  fromLine?: number;
  /** Last line, from 1. */
  toLine?: number;
  /** The last lines, as many as fit a page; 1 to {@link PAGE_LINES}. Not together with the other forms. */
  tail?: number;
  /** Only lines that match this JavaScript regular expression. */
  pattern?: string;
  /** Cursor of an earlier page: continues right after it, with its step, last line and pattern. */
  cursor?: string;
  /** Most entries of the page. Default and most: {@link PAGE_LINES}. */
  limit?: number;
}

/** A line, or a piece of a line that is longer than {@link PIECE_BYTES} or still growing. */
export interface LogLine {
  /** Number of the line, from 1. It never changes. */
  number: number;
  /** Invalid UTF-8 is replaced by U+FFFD. */
  text: string;
  /** The piece begins in the middle of the line. */
  isContinued?: true;
  /** The line continues after this piece, or hasn't ended yet. */
  isUnfinished?: true;
  /** Length of the whole line in bytes, when a pattern matched one that is too long to be shown. */
  lineBytes?: number;
}

export interface LogLines {
  lines: LogLine[];
  /** Cursor of the next page; missing when nothing more can come. */
  cursor?: string;
  /** The page reaches the present end of the log. More may come unless it is complete. */
  isAtEnd: boolean;
  /** Whether the step, or the operation, has ended, so that its log no longer grows. */
  isComplete: boolean;
  /** Size of the whole log. */
  totalBytes: number;
}

export interface LogPage extends LogLines {
  /** Reference of the step, `build/2`, or {@link OPERATION_LOG}. */
  step: string;
  /** The step's name; missing when no worker answered, and in the operation's own log. */
  name?: string;
  status?: ChildStatus;
}
