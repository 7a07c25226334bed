/** Requests that match no route: 405 if the path has another method, else 404. */
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { Problem } from './problems.js';

/** Paths of the jobs API. */
const OURS = /^\/(v1|problems|docs|openapi\.json)(\/|$)/;

/** Whether a path belongs to the jobs API, even if no route serves it. */
export function isJobsPath(path: string): boolean {
  return OURS.test(path);
}

/** Registers the catch-all route; must be called after all others. */
export function registerFallback(app: OpenAPIHono): void {
  const served = app.routes
    .filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => ({ method, pattern: patternOf(path) }));
  const refuse = (c: Context): never => {
    const allowed = [
      ...new Set(served.filter(({ pattern }) => pattern.test(c.req.path)).map(({ method }) => method)),
    ];
    if (allowed.length === 0)
      throw new Problem('unknown-route', `${c.req.path}: expected a path of /openapi.json`);
    const methods = allowed.includes('GET') ? [...allowed, 'HEAD'] : allowed;
    throw new Problem('method-not-allowed', `${c.req.method}: expected ${methods.join(', ')} here`, {
      headers: { Allow: methods.join(', ') },
    });
  };
  for (const path of ['/v1', '/v1/*', '/problems', '/problems/*', '/docs', '/docs/*', '/openapi.json'])
    app.all(path, refuse);
}

/** A route's path as a regular expression: `:id` matches one segment, `:target{...}` the expression in braces. */
function patternOf(path: string): RegExp {
  const parts = path.split('/').map((part) => {
    const named = /^:[^{]+(?:\{(.+)\})?$/.exec(part);
    return named ? (named[1] ?? '[^/]+') : part.replaceAll(/[.*+?^$()[\]\\|{}]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('/')}$`);
}
