/**
 * Where a reader of an operation's events stands. It travels with the reader, so that any process goes on where another
 * stopped: with the same history, what is told after a position is the same whoever tells it.
 */
import type { OperationStatus } from '../../operations/record.js';

export interface EventPosition {
  /** Run whose history it is in; another one that has taken its place is told anew, by its state as it is. */
  runId: string;
  /** Last event of that history of which everything was told; 0 at the beginning. */
  event: number;
  /** How much was told of the next event that tells anything. */
  told: number;
  /** What was last told of the state, after that event. */
  state: ToldState;
  logs: LogsPosition;
  /** Everything was told. */
  isOver?: true;
}

export interface ToldState {
  status: OperationStatus;
  /** Digest of the stage. */
  stage?: string;
  isCancelRequested?: true;
  /** Number of the last question. */
  question: number;
}

export interface LogsPosition {
  /** Which parts' logs were told whole: a bit for each, in base64url. */
  done: string;
  /**
   * Part -> for each of its steps the line and the byte behind what was told, one after the other, while it isn't done.
   * Parts and steps are counted from 0. Positions travel in headers, so this is as short as it can be.
   */
  at: Record<number, number[]>;
  /** The line and the byte behind what was told of the operation's own log. */
  own?: [line: number, offset: number];
}

/** Before anything was told. */
export function beginningOf(runId: string): EventPosition {
  return {
    runId,
    event: 0,
    told: 0,
    state: { status: 'unknown', question: 0 },
    logs: { done: '', at: {} },
  };
}
