/**
 * Rates per principal and in total, in a fixed window. Each server process counts in memory, so a check costs no network call and
 * several servers multiply the limits.
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

/** Requests per window of all callers together, unless one caller may make more. */
const SERVER_LIMITS: RateLimits = { kickoff: 60_000, status: 600_000 };

const EVERYBODY = 'all callers';

export class Rates {
  readonly limits: RateLimits;
  readonly #serverLimits: RateLimits;
  readonly #own: Record<RateName, RateLimiterMemory>;
  readonly #server: Record<RateName, RateLimiterMemory>;

  constructor(settings: RateSettings, serverLimits = SERVER_LIMITS) {
    this.limits = { kickoff: settings.kickoffsPerMinute, status: settings.statusPerMinute };
    this.#serverLimits = {
      kickoff: Math.max(serverLimits.kickoff, this.limits.kickoff),
      status: Math.max(serverLimits.status, this.limits.status),
    };
    const limiters = (limits: RateLimits, prefix: string) => {
      const limiter = (name: RateName) =>
        new RateLimiterMemory({
          keyPrefix: `${prefix}-${name}`,
          points: limits[name],
          duration: RATE_WINDOW_SECONDS,
        });
      return { kickoff: limiter('kickoff'), status: limiter('status') };
    };
    this.#own = limiters(this.limits, 'own');
    this.#server = limiters(this.#serverLimits, 'server');
  }

  /** Counts a request and returns the caller's quota after it. @throws RateLimited */
  async count(name: RateName, principal: string): Promise<Quota> {
    const own = await consume(this.#own[name], principal);
    const quota = {
      limit: this.limits[name],
      remaining: own.state.remainingPoints,
      resetSeconds: secondsUntil(own.state),
    };
    if (own.isOver) throw refusal(name, 'for each caller', quota.limit, quota.resetSeconds, quota);
    const server = await consume(this.#server[name], EVERYBODY);
    if (server.isOver)
      throw refusal(name, 'of all callers', this.#serverLimits[name], secondsUntil(server.state), quota);
    return quota;
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

function refusal(name: RateName, whose: string, limit: number, seconds: number, quota: Quota): RateLimited {
  const expected = `${name}: expected at most ${limit} requests ${whose} in ${RATE_WINDOW_SECONDS} s; got more`;
  return new RateLimited(expected, seconds, quota);
}

/** Seconds until a window ends, at least 1. */
export function secondsUntil({ msBeforeNext }: RateLimiterRes): number {
  return Math.max(1, Math.ceil(msBeforeNext / 1000));
}
