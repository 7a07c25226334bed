/** Custom methods, e.g. `POST /v1/jobs/{id}:cancel`. The OpenAPI library documents them but can't route them, so Hono's router does. */
import type { RouteConfig, z } from '@hono/zod-openapi';
import type { Context, MiddlewareHandler } from 'hono';
import { readBody } from './body.js';
import type { JobsContext } from './context.js';
import { assertJobId } from './headers.js';
import { Problem } from './problems.js';
import { jobParams } from './schemas.js';

interface CustomMethod<S extends z.ZodType> {
  verb: string;
  config: Pick<RouteConfig, 'operationId' | 'summary' | 'description' | 'responses'>;
  body: S;
  middleware?: MiddlewareHandler;
  handle: (c: Context, id: string, body: z.output<S>) => Promise<Response>;
}

export function registerCustomMethod<S extends z.ZodType>(
  { app }: JobsContext,
  { verb, config, body, middleware, handle }: CustomMethod<S>,
): void {
  app.openAPIRegistry.registerPath({
    ...config,
    method: 'post',
    path: `/v1/jobs/{id}:${verb}`,
    tags: ['Jobs'],
    request: { params: jobParams, body: { content: { 'application/json': { schema: body } } } },
  });
  // The last unencoded colon starts the verb. Colons in an ID may be encoded as %3A or not.
  const path = `/v1/jobs/:target{[^/]+:${verb}}`;
  if (middleware) app.post(path, middleware);
  app.post(path, async (c) => {
    const id = (c.req.param('target') ?? '').slice(0, -verb.length - 1);
    const given = await readBody(c, body);
    assertJobId(id);
    return handle(c, id, given);
  });
  // Otherwise other routes would match the verb as part of the ID.
  app.all(path, (c) => {
    throw new Problem('method-not-allowed', `${c.req.method}: expected POST here`, {
      headers: { Allow: 'POST' },
    });
  });
}
