/** What all of the older era's code works with, one for each process. */
import type { Engine } from '../../engine/index.js';
import type { Logger } from '../../platform/log.js';
import { sealOf, type Seal } from '../../platform/seal.js';
import type { Closing } from '../closing.js';
import { TaskNotifications } from '../faces/tasks-2025-11-25/notifications.js';
import type { EventPosition } from './waits.js';
import type { AskedQuestion } from './questions.js';
import type { Session } from './session.js';

export interface OlderEra {
  engine: Engine;
  logger: Logger;
  sessions: Seal<Session>;
  /** IDs of the requests that show questions to a client. */
  questions: Seal<AskedQuestion>;
  /** IDs of the events on the streams of calls. */
  events: Seal<EventPosition>;
  /** Questions that are shown on a stream of this process: no other shows them too. */
  shown: Set<string>;
  notifications: TaskNotifications;
  /** Largest resource that is sent, in bytes. */
  resourceLimitBytes: number;
  /** The end of the process. */
  closing: Closing;
}

/** @param secret the key that all servers of a home share */
export function createOlderEra(
  engine: Engine,
  secret: Buffer,
  logger: Logger,
  resourceLimitBytes: number,
  closing: Closing,
): OlderEra {
  return {
    engine,
    logger,
    sessions: sealOf<Session>(secret, 'session'),
    questions: sealOf<AskedQuestion>(secret, 'question'),
    events: sealOf<EventPosition>(secret, 'event'),
    shown: new Set(),
    notifications: new TaskNotifications(engine, logger),
    resourceLimitBytes,
    closing,
  };
}
