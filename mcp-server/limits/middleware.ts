/** Limits of HTTP requests: how many are open at a time, and their rates. */
import type { HttpBindings } from '@hono/node-server';
import type { Context, MiddlewareHandler } from 'hono';
import { callerOf } from '../auth/middleware.js';
import { RateLimited, type Limits } from './index.js';
import type { RateName } from './rates.js';

/**
 * Middleware that counts an authenticated caller's request as open until its response was sent or its connection closed.
 *
 * @param rate another rate that counts the request
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
