/** Context shared by this revision's code, one per process. */
import { LRUCache } from 'lru-cache';
import type { JSONRPCMessage, ProgressToken, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { Engine } from '../../engine/index.js';
import type { Guard } from '../guard.js';
import type { Logger } from '../../platform/observe/log.js';
import { sealOf, type Seal } from '../../platform/home/seal.js';
import type { Shutdown } from '../shutdown/index.js';
import { Cancellations } from '../sep-1391/cancellations.js';
import type { Serving } from '../call/serving.js';
import { SessionNotifier } from '../sessions/session-notifier.js';
import { type Session, featuresOf } from './session.js';
import { linkTransform } from '../links/links-as-text.js';
import type { JobsPosition } from '../two-stage/delivered-jobs.js';

const REMEMBERED_BACKOFFS = 1_000;

export interface QuestionBackoff {
  /** End of the current back-off, by `performance.now()`. */
  until: number;
  /** Next back-off, in milliseconds. Default: the one after the first time. */
  nextMs?: number;
}

/** Contents of the sealed ID of a request that shows a question. */
export interface AskedQuestion {
  token: string;
  key: string;
  principal: string;
  /** Nonce of the session that was asked. Only its answer is accepted. */
  session: string;
  /** Whether a SEP-1391 operation asks. Then the answer must have its token. */
  isOperation?: true;
}

/** Context of one caller. */
export interface LegacyContext extends SharedContext {
  engine: Guard;
}

/** Context of a process. */
export interface SharedContext {
  logger: Logger;
  sessions: Seal<Session>;
  /** Seals the IDs of elicitation requests. */
  questions: Seal<AskedQuestion>;
  /** Seals the event IDs on calls' streams. */
  events: Seal<EventPosition>;
  /** Seals the event IDs on sessions' own streams. */
  sessionEvents: Seal<SessionStreamPosition>;
  /** Questions shown on one of this process's streams, so no other stream shows them too. */
  shownQuestions: Set<string>;
  /** Back-offs of questions shown with a status. */
  questionBackoffs: LRUCache<string, QuestionBackoff>;
  notifier: SessionNotifier;
  cancellations: Cancellations;
  serving: Serving;
  shutdown: Shutdown;
}

/** @param secret the key that all servers of a home share */
export function createSharedContext(
  engine: Engine,
  secret: Buffer,
  logger: Logger,
  serving: Serving,
  shutdown: Shutdown,
): SharedContext {
  return {
    logger,
    sessions: sealOf<Session>(secret, 'session'),
    questions: sealOf<AskedQuestion>(secret, 'question'),
    events: sealOf<EventPosition>(secret, 'event'),
    sessionEvents: sealOf<SessionStreamPosition>(secret, 'own event'),
    shownQuestions: new Set(),
    questionBackoffs: new LRUCache<string, QuestionBackoff>({ max: REMEMBERED_BACKOFFS }),
    notifier: new SessionNotifier(engine, logger),
    cancellations: new Cancellations(logger),
    serving,
    shutdown,
  };
}

export function linkTransformOf(
  { serving }: LegacyContext,
  { clientName, version }: Session,
): ReturnType<typeof linkTransform> {
  return linkTransform(serving.resourceLinks, clientName, featuresOf(version).resourceLinks);
}

export type Wait =
  /** A tool's operation, as a plain call, until the budget ends (epoch milliseconds). */
  | { kind: 'plain'; token: string; budgetEndsAt: number }
  | { kind: 'task'; token: string }
  /** A built-in tool that was called to wait. Resuming calls it again for the remaining time. */
  | {
      kind: 'own';
      tool: string;
      args: Record<string, unknown>;
      timeoutArgument: string;
      budgetEndsAt: number;
    };

/** Contents of the sealed event ID on a call's stream: where to resume. */
export interface EventPosition {
  session: string;
  requestId: RequestId;
  /** Missing until the operation has started. */
  wait?: Wait;
  progressToken?: ProgressToken;
  /** The last progress sent. It never decreases. */
  progress?: number;
  /** The request was cancelled, or answered with an error, so there is nothing to resume. */
  isOver?: true;
}

/** Contents of the sealed event ID on a session's own stream. */
export interface SessionStreamPosition {
  session: string;
  /** The stream's deliveries for the session's two-stage jobs. */
  jobs: JobsPosition;
}

export interface CallStream {
  signal: AbortSignal;
  send(message: JSONRPCMessage): Promise<void>;
  /** The current position; mutable. */
  readonly position: Omit<EventPosition, 'session'>;
  /** Sends the position to the client as an event ID, if its version allows events without data. */
  mark(): void;
}
