/** Context of an HTTP request: its ID, and the trace in its headers. */
import { randomUUID } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { parseTrace, TRACEPARENT, TRACESTATE } from '../../operations/wire/trace-context.js';
import { hasCredential } from '../../platform/observe/credential-form.js';
import type { Logger } from '../../platform/observe/log.js';
import { inWork, type WorkContext } from '../../platform/observe/work-context.js';

/** The client's own request ID, or one that the server makes. Set on each response. */
export const REQUEST_ID_HEADER = 'X-Request-Id';

/** Characters that log lines and headers of any program can hold. */
const REQUEST_ID = /^[\w.:+/=@~-]{1,128}$/;

/** Middleware that adds the request's fields to log lines, and its ID to the response. */
export function requestContext(logger: Logger): MiddlewareHandler {
  return async (c, next) => {
    const requestId = requestIdOf(c.req.header(REQUEST_ID_HEADER));
    const trace = parseTrace(c.req.header(TRACEPARENT), c.req.header(TRACESTATE));
    const work: WorkContext = { requestId, trace, http: { trace } };
    await inWork(work, async () => {
      const beganMs = performance.now();
      await next();
      c.header(REQUEST_ID_HEADER, requestId);
      logAccess(logger, c, performance.now() - beganMs);
    });
    const isStream = c.res.headers.get('content-type')?.startsWith('text/event-stream') === true;
    if (!isStream) work.isOver = true;
  };
}

function requestIdOf(given: string | undefined): string {
  return given !== undefined && REQUEST_ID.test(given) && !hasCredential(given) ? given : randomUUID();
}

/** Logs the route, not the path: an unknown path is the client's own text. */
function logAccess(logger: Logger, c: Context, durationMs: number): void {
  if (!logger.isLevelEnabled('debug')) return;
  const { status } = c.res;
  const fields = {
    method: c.req.method,
    route: routePath(c, -1),
    status,
    durationMs: Math.round(durationMs),
  };
  logger.debug(fields, 'request');
}
