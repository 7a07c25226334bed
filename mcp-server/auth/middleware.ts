/** Authentication of HTTP requests. Ends streams and waits when their credential ends. */
import { OAuthError } from '@modelcontextprotocol/server';
import type { Context, MiddlewareHandler } from 'hono';
import { clientAddress, socketOf } from '../../platform/http/client-address.js';
import { noteWork } from '../../platform/observe/work-context.js';
import { type Audit, originOf } from '../audit/index.js';
import type { FailedAuthentications } from '../limits/failed-authentications.js';
import {
  AuthenticationUnavailable,
  CredentialUnknown,
  InvalidToken,
  type Authentication,
  type Caller,
} from './index.js';

declare module 'hono' {
  interface ContextVariableMap {
    caller?: Caller;
  }
}

export function callerOf(c: Context): Caller {
  const caller = c.get('caller');
  if (!caller) throw new Error(`${c.req.path} is served without authentication`);
  return caller;
}

export interface AuthenticatedOptions {
  authentication: Authentication;
  failures: FailedAuthentications;
  audit: Audit | undefined;
}

/** Finds the caller for {@link callerOf}. @param refuse renders an OAuthError, AuthenticationUnavailable or RateLimited */
export function authenticated(
  { authentication, failures, audit }: AuthenticatedOptions,
  refuse: (c: Context, error: unknown) => Response,
): MiddlewareHandler {
  return async (c, next) => {
    let caller: Caller;
    try {
      caller = await authentication.callerOf({
        headers: c.req.raw.headers,
        socket: socketOf(c),
        isSuspect: await failures.isSuspect(clientAddress(c)),
      });
    } catch (error) {
      if (!(error instanceof OAuthError || error instanceof AuthenticationUnavailable)) throw error;
      const isUnknown = error instanceof CredentialUnknown;
      const refusal = (isUnknown && (await failures.count(clientAddress(c)))) || error;
      audit?.refusedAuthentication(originOf(c), c.req.header('authorization'), refusal);
      return refuse(c, refusal);
    }
    c.set('caller', caller);
    noteWork({ principal: caller.principal });
    if (!authentication.isOn) return next();
    let isStreaming = false;
    let release: () => void = () => undefined;
    const ended = new Promise<'ended'>((resolve) => {
      release = authentication.hold(caller, () => resolve('ended'));
    });
    try {
      if ((await Promise.race([next(), ended])) === 'ended')
        return refuse(c, new InvalidToken('The credential has expired or was revoked during the request'));
      const { body, headers } = c.res;
      if (body && headers.get('content-type')?.startsWith('text/event-stream')) {
        isStreaming = true;
        c.res = new Response(until(ended, body, release), c.res);
      }
    } finally {
      if (!isStreaming) release();
    }
    return undefined;
  };
}

/** The stream, closed early once `ended` resolves. @param release called when it has ended either way */
function until(
  ended: Promise<unknown>,
  stream: ReadableStream<Uint8Array>,
  release: () => void,
): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const read = await Promise.race([reader.read(), ended.then(() => undefined)]);
      if (read && !read.done) return controller.enqueue(read.value);
      release();
      controller.close();
      if (!read) await reader.cancel();
    },
    async cancel(reason) {
      release();
      await reader.cancel(reason);
    },
  });
}
