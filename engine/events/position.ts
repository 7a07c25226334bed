/**
 * Position of a reader in an operation's events. Clients carry it, so that any process can resume where another stopped: with
 * the same history, every process delivers the same events after a position.
 */
import type { OperationStatus } from '../../operations/record.js';

/** Sealed into event IDs, so the names of the fields are part of their format. */
export interface EventPosition {
  /** Run whose history it is in. If another run has replaced it, readers get the current state of that run. */
  runId: string;
  /** Last history event that was delivered completely; 0 at the beginning. */
  event: number;
  /** Number of events already delivered of the next history event. */
  told: number;
  /** Last delivered state, after that event. */
  state: DeliveredState;
  logs: LogsPosition;
  /** Everything was delivered. */
  isOver?: true;
}

export interface DeliveredState {
  status: OperationStatus;
  /** Digest of the stage. */
  stage?: string;
  isCancelRequested?: true;
  /** Whether it waits for its turn in a queue. */
  isWaiting?: true;
  /** Number of the last input request. */
  question: number;
}

export interface LogsPosition {
  /** Parts whose logs were delivered completely: one bit each, in base64url. */
  done: string;
  /**
   * Part -> line and byte offset after the delivered lines, for each of its steps in turn, while the part isn't done. Parts and
   * steps are counted from 0. As short as possible, since positions are sent in headers.
   */
  at: Record<number, number[]>;
  /** Line and byte offset after the delivered lines of the operation's own log. */
  own?: [line: number, offset: number];
}

/** Position before the first event. */
export function startPosition(runId: string): EventPosition {
  return {
    runId,
    event: 0,
    told: 0,
    state: { status: 'unknown', question: 0 },
    logs: { done: '', at: {} },
  };
}
