/** What all of the older era's code works with, one for each process. */
import type { Engine } from '../../engine/index.js';
import type { Logger } from '../../platform/log.js';
import { sealOf, type Seal } from '../../platform/seal.js';
import type { Shutdown } from '../lifecycle/shutdown.js';
import { Cancellations } from '../sep-1391/index.js';
import type { Serving } from '../shared/serving.js';
import { SessionNotifier } from '../shared/session-notifier.js';
import type { EventPosition, OwnPosition } from './waits.js';
import type { Session } from './session.js';

/** How long a question isn't shown again. */
export interface Rest {
  /** By `performance.now()`, in milliseconds. */
  until: number;
  /** How long it rests the next time, in milliseconds. Default: as after the first. */
  nextMs?: number;
}

/** Payload of the sealed ID of a request that shows a question. */
export interface AskedQuestion {
  token: string;
  key: string;
  principal: string;
  /** Nonce of the session that was asked: nobody else's answer counts. */
  session: string;
  /** Whether an operation of SEP-1391 asks: the answer then has to carry its token. */
  isOperation?: true;
}

export interface OlderEra {
  engine: Engine;
  logger: Logger;
  sessions: Seal<Session>;
  /** IDs of the requests that show questions to a client. */
  questions: Seal<AskedQuestion>;
  /** IDs of the events on the streams of calls. */
  events: Seal<EventPosition>;
  /** IDs of the events on sessions' own streams. */
  ownEvents: Seal<OwnPosition>;
  /** Questions that are shown on a stream of this process: no other shows them too. */
  shown: Set<string>;
  /** Questions that were shown with a status, and when they may be again. */
  rests: Map<string, Rest>;
  news: SessionNotifier;
  cancellations: Cancellations;
  serving: Serving;
  /** The shutdown of the process. */
  closing: Shutdown;
}

/** @param secret the key that all servers of a home share */
export function createOlderEra(
  engine: Engine,
  secret: Buffer,
  logger: Logger,
  serving: Serving,
  closing: Shutdown,
): OlderEra {
  return {
    engine,
    logger,
    sessions: sealOf<Session>(secret, 'session'),
    questions: sealOf<AskedQuestion>(secret, 'question'),
    events: sealOf<EventPosition>(secret, 'event'),
    ownEvents: sealOf<OwnPosition>(secret, 'own event'),
    shown: new Set(),
    rests: new Map(),
    news: new SessionNotifier(engine, logger),
    cancellations: new Cancellations(engine, logger),
    serving,
    closing,
  };
}
