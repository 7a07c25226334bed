/** Records a jobs API request as a span, by OpenTelemetry's semantic conventions for HTTP. */
import type { Context, MiddlewareHandler } from 'hono';
import { matchedRoutes } from 'hono/route';
import { tracing } from '../../platform/observe/tracing/index.js';
import { currentWork, inWork, type WorkContext } from '../../platform/observe/work-context.js';

/** Middleware for authenticated requests. A stream's span ends when its response begins. */
export const traceJobsRequest: MiddlewareHandler = async (c, next) => {
  const before = currentWork();
  const { method } = c.req;
  const span = tracing()?.startSpan(method, {
    kind: 'server',
    parent: before?.trace,
    attributes: {
      'http.request.method': method,
      'network.transport': 'tcp',
      'network.protocol.name': 'http',
    },
  });
  if (!span) return next();
  const work: WorkContext = { ...before, span, trace: span.context };
  await inWork(work, next);
  const route = routeOf(c);
  const { status } = c.res;
  if (route !== undefined) span.rename(`${method} ${route}`);
  span.set({
    'http.route': route,
    'http.response.status_code': status,
    'gen_ai.tool.name': work.tool,
    'longhaul.token': work.token,
  });
  if (status >= 500) span.fail(String(status));
  span.end();
  work.isOver = true;
  Object.assign(before ?? {}, { tool: work.tool, token: work.token });
};

/** The route's path as in the OpenAPI document: `/v1/jobs/{id}:cancel`. */
function routeOf(c: Context): string | undefined {
  const path = matchedRoutes(c)
    .map((route) => route.path)
    .findLast((one) => !one.includes('*'));
  return path
    ?.replace(/:target\{[^}]*\+:(\w+)\}/, '{id}:$1')
    .replace(/:(\w+)(\{[^}]*\})?/g, replaceParameter);
}

function replaceParameter(whole: string, name: string): string {
  // A verb follows a parameter.
  return ['cancel', 'resume', 'delete'].includes(name) ? whole : `{${name}}`;
}
