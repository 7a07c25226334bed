/** Context shared by this revision's code, one per process. */
import { LRUCache } from 'lru-cache';
import type { Engine } from '../../engine/index.js';
import type { Guard } from '../guard.js';
import type { Logger } from '../../platform/log.js';
import { sealOf, type Seal } from '../../platform/seal.js';
import type { Shutdown } from '../lifecycle/shutdown.js';
import { Cancellations } from '../sep-1391/index.js';
import type { Serving } from '../shared/serving.js';
import { SessionNotifier } from '../shared/session-notifier.js';
import type { EventPosition, SessionStreamPosition } from './waits.js';
import type { Session } from './session.js';

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
