/** What all of the older era's code works with, one for each process. */
import type { Engine } from '../../engine/index.js';
import type { Logger } from '../../platform/log.js';
import { sealOf, type Seal } from '../../platform/seal.js';
import type { Shutdown } from '../lifecycle/shutdown.js';
import { Cancellations } from '../sep-1391/index.js';
import type { Serving } from '../shared/serving.js';
import { SessionNotifier } from '../shared/session-notifier.js';
import type { EventPosition, SessionStreamPosition } from './waits.js';
import type { AskedQuestion } from './questions.js';
import type { Session } from './session.js';

/** How long a question isn't shown again. */
export interface QuestionBackoff {
  /** By `performance.now()`, in milliseconds. */
  until: number;
  /** How long it rests the next time, in milliseconds. Default: as after the first. */
  nextMs?: number;
}

export interface LegacyContext {
  engine: Engine;
  logger: Logger;
  sessions: Seal<Session>;
  /** IDs of the requests that show questions to a client. */
  questions: Seal<AskedQuestion>;
  /** IDs of the events on the streams of calls. */
  events: Seal<EventPosition>;
  /** IDs of the events on sessions' own streams. */
  sessionEvents: Seal<SessionStreamPosition>;
  /** Questions that are shown on a stream of this process: no other shows them too. */
  shownQuestions: Set<string>;
  /** Questions that were shown with a status, and when they may be again. */
  questionBackoffs: Map<string, QuestionBackoff>;
  notifier: SessionNotifier;
  cancellations: Cancellations;
  serving: Serving;
  /** The shutdown of the process. */
  shutdown: Shutdown;
}

/** @param secret the key that all servers of a home share */
export function createLegacyContext(
  engine: Engine,
  secret: Buffer,
  logger: Logger,
  serving: Serving,
  shutdown: Shutdown,
): LegacyContext {
  return {
    engine,
    logger,
    sessions: sealOf<Session>(secret, 'session'),
    questions: sealOf<AskedQuestion>(secret, 'question'),
    events: sealOf<EventPosition>(secret, 'event'),
    sessionEvents: sealOf<SessionStreamPosition>(secret, 'own event'),
    shownQuestions: new Set(),
    questionBackoffs: new Map(),
    notifier: new SessionNotifier(engine, logger),
    cancellations: new Cancellations(engine, logger),
    serving,
    shutdown,
  };
}
