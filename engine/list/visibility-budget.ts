/**
 * A process's budget for calls to Temporal's visibility store: the limit is low, and the whole namespace shares it. Callers' lists come
 * first, then listening sessions and the sweep of overdue operations, then estimates, and metrics last.
 */
import PQueue from 'p-queue';
import { LonghaulError } from '../../operations/errors.js';
import { count } from '../../platform/observe/metrics/index.js';

/** Uses of visibility; higher numbers go first. */
const PRIORITIES = {
  /** A further call of a list: finished lists are worth more than begun ones. */
  'rest of a list': 3,
  list: 2,
  sessions: 1,
  sweep: 1,
  estimates: 0,
  metrics: -1,
} as const;
export type VisibilityUse = keyof typeof PRIORITIES;

/** Window for counting calls, in milliseconds. */
const WINDOW_MS = 1_000;

export class VisibilityBudget {
  readonly #queue: PQueue;

  /** @param callsPerSecond maximum number of calls in any second */
  constructor(callsPerSecond: number) {
    this.#queue = new PQueue({ intervalCap: callsPerSecond, interval: WINDOW_MS, strict: true });
  }

  get waitingCount(): number {
    return this.#queue.size;
  }

  /** Waits for a call's turn. @param limitMs in milliseconds. Default: none @throws LonghaulError `unavailable`, retryable, after it */
  async take(use: VisibilityUse, limitMs?: number): Promise<void> {
    const signal = limitMs === undefined ? undefined : AbortSignal.timeout(limitMs);
    try {
      await this.#queue.add(() => undefined, { priority: PRIORITIES[use], signal });
      count('longhaul_visibility_calls_total', { use });
    } catch (error) {
      if (!signal?.aborted) throw error;
      throw new LonghaulError(
        'unavailable',
        'this server has reached its limit of lists from Temporal; try again shortly',
        { cause: error },
      );
    }
  }
}
