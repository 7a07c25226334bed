/** Pages of a log, of a step or of the operation itself: what can be asked for, and what comes. */
import type { ChildStatus } from './record.js';

/** Reference of an operation's own log, where others are steps'. A job of this name is named by its steps, as in `operation/1`. */
export const OPERATION_LOG = 'operation';

/** Most lines of a page. */
export const PAGE_LINES = 200;
/** Most text of a page, in bytes of UTF-8: 16 KiB. */
export const PAGE_BYTES = 16 * 1024;
/** Of a log as text, at most so much is sent at once, in characters, and a page over it. */
export const TEXT_CHARACTERS = 256 * 1024;
/** Longest piece of a line, in bytes of the log: 4 KiB. */
export const PIECE_BYTES = 4 * 1024;
/** Longest pattern, in characters. */
export const PATTERN_CHARACTERS = 200;

export interface LogQuery {
  /**
   * Which step, see {@link chooseStep}, or {@link OPERATION_LOG}. Default: of a pipeline a step, of another operation its own
   * log.
   */
  step?: string | undefined;
  /** First line, from 1. */
  fromLine?: number | undefined;
  /** Last line, from 1. */
  toLine?: number | undefined;
  /** The last lines, as many as fit a page; 1 to {@link PAGE_LINES}. Not together with the other forms. */
  tail?: number | undefined;
  /** Only lines that this regular expression (JavaScript's) finds something in. */
  pattern?: string | undefined;
  /** From an earlier page: goes on exactly behind it, with its step, last line and pattern. */
  cursor?: string | undefined;
  /** Most entries of the page. Default and most: {@link PAGE_LINES}. */
  limit?: number | undefined;
}

/** A line, or a piece of one that is longer than {@link PIECE_BYTES} or still growing. */
export interface LogLine {
  /** Number of the line, from 1. It never changes. */
  number: number;
  /** Bytes that are no UTF-8 have become U+FFFD. */
  text: string;
  /** Begins in the middle of the line. */
  isContinued?: true;
  /** The line goes on behind it, or hasn't ended yet. */
  isUnfinished?: true;
  /** How long the whole line is, in bytes, when a pattern was found in one that is too long to be shown. */
  lineBytes?: number;
}

export interface LogLines {
  lines: LogLine[];
  /** To go on behind this page; none when nothing more can come. */
  cursor?: string;
  /** Everything that the log had was read. More may come unless it is complete. */
  isAtEnd: boolean;
  /** Has the step, or the operation, ended? Then its log doesn't grow any more. */
  isComplete: boolean;
  /** Size of the whole log. */
  totalBytes: number;
}

export interface LogPage extends LogLines {
  /** Reference of the step, `build/2`, or {@link OPERATION_LOG}. */
  step: string;
  /** The step's name; missing when no worker could tell, and in the operation's own log. */
  name?: string;
  status?: ChildStatus;
}
