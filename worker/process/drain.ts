/**
 * The drain of a stopping worker: it takes no new work, and activities of tools and steps that end with the worker get the
 * drain timeout to finish. Then they are cancelled, and Temporal starts them again on another worker.
 */
import type { Logger } from '../../platform/observe/log.js';
import { SHUTDOWN_GRACE_MS } from './workers.js';

/** Time for cancelled activities to end and for last reports, in milliseconds. */
const AFTER_CANCELLATION_MS = 5_000;

/** Activities are counted this long before the cancellation, in milliseconds, since cancelled ones may end before a later timer fires. */
const BEFORE_CANCELLATION_MS = 100;

export class Drain {
  readonly #ending = new AbortController();
  #hasBegun = false;

  constructor(
    private readonly timeoutMs: number,
    private readonly logger: Logger,
  ) {}

  get limitMs(): number {
    return Math.max(this.timeoutMs, SHUTDOWN_GRACE_MS) + AFTER_CANCELLATION_MS;
  }

  /** Fires shortly before activities are cancelled: the last chance for reports that Temporal hasn't taken yet. */
  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  /** Begins the drain, once. @param countActivities number of activities that still run */
  begin(countActivities: () => number): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    const { timeoutMs, logger } = this;
    const activities = countActivities();
    const drainSeconds = timeoutMs / 1_000;
    logger.info(
      { activities, drainSeconds },
      activities === 0
        ? 'worker stops: no activities run'
        : `worker stops: ${runningActivities(activities)}, and may do so for ${drainSeconds} s`,
    );
    setTimeout(() => this.#ending.abort(), Math.max(0, timeoutMs - AFTER_CANCELLATION_MS)).unref();
    const countBeforeEnd = () => {
      const left = countActivities();
      if (left === 0) return;
      logger.warn({ activities: left }, `drain timeout: ${runningActivities(left)}, and will be cancelled`);
    };
    setTimeout(countBeforeEnd, Math.max(0, timeoutMs - BEFORE_CANCELLATION_MS)).unref();
  }
}

function runningActivities(count: number): string {
  return count === 1 ? '1 activity still runs' : `${count} activities still run`;
}
