/**
 * Rates per principal, in a fixed window. Each server process counts in memory, so a check costs no network call and several servers
 * multiply the limits.
 */
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Settings } from '../../platform/settings/index.js';
import { LonghaulError } from '../../operations/errors.js';

/** State of a rate after a request (draft-ietf-httpapi-ratelimit-headers-10). */
export interface Quota {
  limit: number;
  remaining: number;
  resetSeconds: number;
}

export class RateLimited extends LonghaulError {
  override name = 'RateLimited';

  /**
   * @param message the limit's name and what it allows
   * @param retryAfterSeconds when the request may succeed
   * @param quota the caller's, if a rate was exceeded
   */
  constructor(
    message: string,
    override readonly retryAfterSeconds: number,
    readonly quota?: Quota,
  ) {
    super('rate_limited', `${message}; try again in ${retryAfterSeconds} s`, { retryAfterSeconds });
  }
}

export const RATE_WINDOW_SECONDS = 60;

/** `kickoff`: starts of operations. `status`: reads of jobs and tools, and MCP requests over HTTP. */
export type RateName = 'kickoff' | 'status';

/** Requests per window for each principal. */
export type RateLimits = Record<RateName, number>;

export type RateSettings = Pick<Settings, 'kickoffsPerMinute' | 'statusPerMinute'>;

export class Rates {
  readonly limits: RateLimits;
  readonly #limiters: Record<RateName, RateLimiterMemory>;

  constructor({ kickoffsPerMinute: kickoff, statusPerMinute: status }: RateSettings) {
    this.limits = { kickoff, status };
    const limiter = (name: RateName) =>
      new RateLimiterMemory({
        keyPrefix: name,
        points: this.limits[name],
        duration: RATE_WINDOW_SECONDS,
      });
    this.#limiters = { kickoff: limiter('kickoff'), status: limiter('status') };
  }

  /** Counts a request and returns the caller's quota after it. @throws RateLimited */
  async count(name: RateName, principal: string): Promise<Quota> {
    const { state, isOver } = await consume(this.#limiters[name], principal);
    const limit = this.limits[name];
    const resetSeconds = secondsUntil(state);
    const quota = { limit, remaining: state.remainingPoints, resetSeconds };
    if (!isOver) return quota;
    const expected = `${name}: expected at most ${limit} requests for each caller in ${RATE_WINDOW_SECONDS} s`;
    throw new RateLimited(`${expected}; got more`, resetSeconds, quota);
  }
}

export async function consume(
  limiter: RateLimiterMemory,
  key: string | number,
): Promise<{ state: RateLimiterRes; isOver: boolean }> {
  try {
    return { state: await limiter.consume(key), isOver: false };
  } catch (error) {
    if (!(error instanceof RateLimiterRes)) throw error;
    return { state: error, isOver: true };
  }
}

/** Seconds until a window ends, at least 1. */
export function secondsUntil({ msBeforeNext }: RateLimiterRes): number {
  return Math.max(1, Math.ceil(msBeforeNext / 1000));
}
