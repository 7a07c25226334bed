/**
 * Rate limits per principal for starting and reading jobs. Kept in memory per server process, so that a check costs no
 * network call; several servers multiply the limits.
 */
import type { Context, MiddlewareHandler } from 'hono';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { Problem } from './problems.js';
import { header } from './schemas.js';

/** Window of all limits, in seconds. */
export const RATE_WINDOW_SECONDS = 60;

/** `kickoff`: requests that start jobs; `status`: requests that read jobs and tools. */
export type RateName = 'kickoff' | 'status';

/** Requests per window for each principal. */
export type RateLimits = Record<RateName, number>;

/** Response headers (draft-ietf-httpapi-ratelimit-headers-10), for the OpenAPI document. */
export const RATE_HEADERS = {
  'RateLimit-Policy': header('The limit: its name, how many requests (q) in how many seconds (w).'),
  RateLimit: header('Remaining requests (r), and seconds until the quota resets (t).'),
};

export class Rates {
  readonly #limiters: Record<RateName, RateLimiterMemory>;

  constructor(
    readonly limits: RateLimits,
    private readonly principalOf: (c: Context) => string,
  ) {
    const limiter = (name: RateName) =>
      new RateLimiterMemory({ keyPrefix: name, points: limits[name], duration: RATE_WINDOW_SECONDS });
    this.#limiters = { kickoff: limiter('kickoff'), status: limiter('status') };
  }

  /** Middleware: counts a request and sets the RateLimit headers; refuses it with 429 beyond the limit. */
  limit(name: RateName): MiddlewareHandler {
    return async (c, next) => {
      let left: RateLimiterRes;
      try {
        left = await this.#limiters[name].consume(this.principalOf(c));
      } catch (error) {
        if (!(error instanceof RateLimiterRes)) throw error;
        throw new Problem('rate-limited', this.#refusal(name), {
          headers: { 'Retry-After': String(secondsOf(error)), ...this.#headers(name, error) },
        });
      }
      for (const [header, value] of Object.entries(this.#headers(name, left))) c.header(header, value);
      return next();
    };
  }

  #refusal(name: RateName): string {
    return `${name}: expected at most ${this.limits[name]} requests in ${RATE_WINDOW_SECONDS} s; got more`;
  }

  #headers(name: RateName, left: RateLimiterRes): Record<string, string> {
    return {
      'RateLimit-Policy': `"${name}";q=${this.limits[name]};w=${RATE_WINDOW_SECONDS}`,
      RateLimit: `"${name}";r=${left.remainingPoints};t=${secondsOf(left)}`,
    };
  }
}

function secondsOf({ msBeforeNext }: RateLimiterRes): number {
  return Math.max(1, Math.ceil(msBeforeNext / 1000));
}
