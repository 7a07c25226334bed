/** OPTIONS, and requests that match no route: 405 if the path has another method, else 404. */
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Context, MiddlewareHandler } from 'hono';
import { Problem } from './rendering/problems.js';

const OURS = /^\/(v1|problems|docs|openapi\.json)(\/|$)/;

/** Whether a path belongs to the jobs API, even without a route. */
export function isJobsPath(path: string): boolean {
  return OURS.test(path);
}

/** Registers the catch-all route. Call it after all others. */
export function registerFallback(app: OpenAPIHono): void {
  const methodsOf = methodsByPath(app);
  const refuse = (c: Context): never => {
    const methods = methodsOf(c.req.path);
    if (methods.length === 0)
      throw new Problem('unknown-route', `${c.req.path}: expected a path of /openapi.json`);
    throw new Problem('method-not-allowed', `${c.req.method}: expected ${methods.join(', ')} here`, {
      headers: { Allow: methods.join(', ') },
    });
  };
  for (const path of ['/v1', '/v1/*', '/problems', '/problems/*', '/docs', '/docs/*', '/openapi.json'])
    app.all(path, refuse);
}

/** Middleware that adds the path's methods to OPTIONS (RFC 9110, section 9.3.7). It leaves unknown paths to others. */
export function allowHeader(app: OpenAPIHono): MiddlewareHandler {
  let methodsOf: ReturnType<typeof methodsByPath> | undefined;
  return (c, next) => {
    if (c.req.method !== 'OPTIONS' || !isJobsPath(c.req.path)) return next();
    methodsOf ??= methodsByPath(app);
    const methods = methodsOf(c.req.path);
    if (methods.length > 0) c.header('Allow', methods.join(', '));
    return next();
  };
}

/** Runs after {@link allowHeader} and after CORS, which answers preflight requests itself. */
export const answerOptions: MiddlewareHandler = (c, next) => {
  const isAnswered = c.req.method === 'OPTIONS' && c.res.headers.has('allow');
  return isAnswered ? Promise.resolve(c.body(null, 204)) : next();
};

/** The methods of the first route that serves a path, as for requests. Empty if none does. */
function methodsByPath(app: OpenAPIHono): (path: string) => string[] {
  const served = app.routes
    .filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => ({ method, path, pattern: patternOf(path) }));
  return (path) => {
    const route = served.find(({ pattern }) => pattern.test(path))?.path;
    const methods = new Set(served.filter((one) => one.path === route).map(({ method }) => method));
    if (methods.has('GET')) methods.add('HEAD');
    return [...methods];
  };
}

/** A route's path as a regular expression: `:id` matches one segment, `:target{...}` the expression in braces. */
function patternOf(path: string): RegExp {
  const source = path.replaceAll(
    /:\w+(?:\{([^}]+)\})?|[.*+?^$()[\]\\|{}]/g,
    (part: string, expression: string | undefined) =>
      part.startsWith(':') ? (expression ?? '[^/]+') : `\\${part}`,
  );
  return new RegExp(`^${source}$`);
}
