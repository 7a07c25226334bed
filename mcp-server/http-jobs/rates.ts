/** Rates of the jobs API: the process's limits (mcp-server/limits), with response headers. */
import type { Context, MiddlewareHandler } from 'hono';
import { RateLimited } from '../limits/index.js';
import {
  type Quota,
  RATE_WINDOW_SECONDS,
  type RateLimits,
  type RateName,
  type Rates as SharedRates,
} from '../limits/rates.js';
import { Problem } from './rendering/problems.js';
import { header } from './rendering/schemas.js';

export { RATE_WINDOW_SECONDS } from '../limits/rates.js';

/** draft-ietf-httpapi-ratelimit-headers-10. */
export const RATE_HEADERS = {
  'RateLimit-Policy': header('The limit: its name, how many requests (q) in how many seconds (w).'),
  RateLimit: header('Remaining requests (r), and seconds until the quota resets (t).'),
};

export class Rates {
  constructor(
    private readonly rates: SharedRates,
    private readonly principalOf: (c: Context) => string,
  ) {}

  get limits(): RateLimits {
    return this.rates.limits;
  }

  /** Middleware that counts a request and sets the RateLimit headers. Refuses it with 429 beyond the limit. */
  limit(name: RateName): MiddlewareHandler {
    return async (c, next) => {
      let quota: Quota;
      try {
        quota = await this.rates.count(name, this.principalOf(c));
      } catch (error) {
        if (!(error instanceof RateLimited)) throw error;
        throw new Problem('rate-limited', error.message, {
          headers: {
            'Retry-After': String(error.retryAfterSeconds),
            ...(error.quota ? headersOf(name, error.quota) : {}),
          },
        });
      }
      for (const [header, value] of Object.entries(headersOf(name, quota))) c.header(header, value);
      return next();
    };
  }
}

function headersOf(name: RateName, { limit, remaining, resetSeconds }: Quota): Record<string, string> {
  return {
    'RateLimit-Policy': `"${name}";q=${limit};w=${RATE_WINDOW_SECONDS}`,
    RateLimit: `"${name}";r=${remaining};t=${resetSeconds}`,
  };
}
