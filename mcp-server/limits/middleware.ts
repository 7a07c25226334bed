/** Limits of requests over HTTP: those that are open at a time, and rates. */
import type { HttpBindings } from '@hono/node-server';
import type { Context, MiddlewareHandler } from 'hono';
import { callerOf } from '../auth/middleware.js';
import { RateLimited, type Limits } from './index.js';
import type { RateName } from './rates.js';

/**
 * Middleware that counts a request of an authenticated caller as open until its response has been sent, or its connection is
 * closed.
 *
 * @param rate also counted in this rate
 * @param refuse renders the refusal
 */
export function limited(
  { openRequests, rates }: Limits,
  refuse: (c: Context, error: RateLimited) => Response | Promise<Response>,
  rate?: RateName,
): MiddlewareHandler {
  return async (c, next) => {
    const { principal } = callerOf(c);
    let close: () => void;
    try {
      if (rate) await rates.count(rate, principal);
      close = openRequests.open(principal);
    } catch (error) {
      if (error instanceof RateLimited) return refuse(c, error);
      throw error;
    }
    const { outgoing } = c.env as HttpBindings;
    outgoing.once('close', close);
    if (outgoing.destroyed) close();
    return next();
  };
}
