/** A reader's position in an operation's events. Clients carry it, so any process can resume where another stopped. */
import { createHash } from 'node:crypto';
import type { OperationStatus } from '../../operations/record.js';

/** Characters of the digest of a name or key, and of a text. Digests in a list must differ. */
const NAME_CHARACTERS = 5;
const TEXT_CHARACTERS = 8;
/** Maximum number of open questions in a position, so it fits into a header. A reconnecting reader gets the others again. */
const MAX_QUESTIONS = 250;

/** Sealed into event IDs, so field names are part of their format. */
export interface EventPosition {
  /** First run of the operation. A later operation with the same token has another one. */
  first: string;
  /** Run that the position is in: the first run, or a continuation. Any other run is a new attempt. */
  runId: string;
  /** Last history event that was fully delivered; 0 at the beginning of the run. */
  event: number;
  /** Number of delivered events of the next history event. */
  told: number;
  /** Last history event whose status a snapshot has reported: until then only input requests follow. */
  statusUntil?: number;
  /** Last delivered state, after that event. A continuation begins with it. */
  state: DeliveredState;
  logs: LogsPosition;
  isOver?: true;
}

export interface DeliveredState {
  status: OperationStatus;
  stage?: string;
  isCancelRequested?: true;
  /** Whether it waits for its turn in a queue. */
  isWaiting?: true;
  /** Digests of the open input requests' keys, concatenated. Each key is used once. */
  questions: string;
}

export interface LogsPosition {
  /** Parts whose logs were fully delivered: one bit per place in the list of parts, in base64url. */
  done: string;
  /** Digest of the names at those places. If they differ, no part counts as delivered. */
  names?: string;
  /** Digest of a part's name -> line and byte offset after the delivered lines, for each step in turn. Short: headers carry positions. */
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

export function copyPosition(position: EventPosition): EventPosition {
  const copy = structuredClone(position);
  copy.state.questions = copy.state.questions.slice(-MAX_QUESTIONS * NAME_CHARACTERS);
  return copy;
}

export function nameDigest(name: string): string {
  return digest(name, NAME_CHARACTERS);
}

/** Splits concatenated digests. */
export function nameDigestsIn(text: string): ReadonlySet<string> {
  return new Set(text.match(new RegExp(`.{${NAME_CHARACTERS}}`, 'g')));
}

export function textDigest(text: string): string {
  return digest(text, TEXT_CHARACTERS);
}

function digest(text: string, characters: number): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, characters);
}
