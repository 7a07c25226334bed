/**
 * Position of a reader in an operation's events. Clients carry it, so that any process can resume where another stopped: with
 * the same history, every process delivers the same events after a position.
 */
import { createHash } from 'node:crypto';
import type { OperationStatus } from '../../operations/record.js';

/** Characters of the digest of a part's name or a question's key, and of a text: those of a list must differ. */
const NAME_CHARACTERS = 5;
const TEXT_CHARACTERS = 8;
/** Maximum number of open questions in a position: more would not fit into a header. A reader that reconnects gets others again. */
const MAX_QUESTIONS = 250;

/** Sealed into event IDs, so the names of the fields are part of their format. */
export interface EventPosition {
  /** First run of the operation. Another one under the same token has another. */
  first: string;
  /** Run whose history it is in: the first run, or one that continues it as new. Any other run is a new attempt. */
  runId: string;
  /** Last history event that was delivered completely; 0 at the beginning of the run. */
  event: number;
  /** Number of events already delivered of the next history event. */
  told: number;
  /** Last delivered state, after that event. A run that continues another begins with it. */
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
  /** Digests of the keys of the open input requests, one after another. A key is used once. */
  questions: string;
}

export interface LogsPosition {
  /** Parts whose logs were delivered completely: one bit each, by their places in the list of parts, in base64url. */
  done: string;
  /** Digest of the names at those places; in a list with other names there, no part counts as delivered. */
  names?: string;
  /**
   * Digest of a part's name -> line and byte offset after the delivered lines, for each of its steps in turn, while the part
   * isn't done. As short as possible, since positions are sent in headers.
   */
  at: Record<string, number[]>;
  /** Line and byte offset after the delivered lines of the operation's own log. */
  own?: [line: number, offset: number];
}

/** Position before the first event of a run. @param first the operation's first run */
export function startPosition(first: string, runId = first): EventPosition {
  return {
    first,
    runId,
    event: 0,
    told: 0,
    state: { status: 'unknown', questions: '' },
    logs: { done: '', at: {} },
  };
}

/** Copy for a reader, short enough for a header. */
export function copyPosition(position: EventPosition): EventPosition {
  const copy = structuredClone(position);
  copy.state.questions = copy.state.questions.slice(-MAX_QUESTIONS * NAME_CHARACTERS);
  return copy;
}

/** Digest of a part's name or a question's key. */
export function nameDigest(name: string): string {
  return digest(name, NAME_CHARACTERS);
}

/** Digests in a text of several. */
export function nameDigestsIn(text: string): ReadonlySet<string> {
  return new Set(text.match(new RegExp(`.{${NAME_CHARACTERS}}`, 'g')));
}

/** Digest of any text. */
export function textDigest(text: string): string {
  return digest(text, TEXT_CHARACTERS);
}

function digest(text: string, characters: number): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, characters);
}
