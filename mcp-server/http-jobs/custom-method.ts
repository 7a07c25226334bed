/**
 * Custom methods: `POST /v1/jobs/{id}:resume`, `:delete` and, in cancel.ts, `:cancel`. The OpenAPI library documents them but can't
 * route them, so Hono's router does.
 */
import { type RouteConfig, z } from '@hono/zod-openapi';
import type { Context, MiddlewareHandler } from 'hono';
import { readBody } from './body.js';
import type { JobsContext } from './context.js';
import { Problem, asProblem } from './rendering/problems.js';
import { jobParams, BODY_PROBLEMS, responses, MIN_KEEP_ALIVE_SECONDS } from './rendering/schemas.js';
import { kickoffResponses } from './rendering/kickoff-schemas.js';
import { kickoffResponse } from './kickoff.js';

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
    return handle(c, id, await readBody(c, body));
  });
  // Otherwise other routes would match the verb as part of the ID.
  app.all(path, (c) => {
    throw new Problem('method-not-allowed', `${c.req.method}: expected POST here`, {
      headers: { Allow: 'POST' },
    });
  });
}

/** Removes a job that has ended. `DELETE /v1/jobs/{id}` cancels. */
export function registerDelete(context: JobsContext): void {
  const { engineOf } = context;
  registerCustomMethod(context, {
    verb: 'delete',
    config: {
      operationId: 'deleteEndedJob',
      summary: 'Delete a job that has ended',
      description:
        'Removes the job with its result, partial result, files and logs for good, and frees its Idempotency-Key. Refused (409) for an open job, which must be cancelled first, and for a job that was resumed, while the job that resumed it exists.',
      responses: responses({ 204: { description: 'The job is deleted.' } }, [
        ...BODY_PROBLEMS,
        'job-not-found',
        'wrong-state',
      ]),
    },
    body: z.strictObject({}),
    async handle(c, id) {
      await engineOf(c).delete(id);
      return c.body(null, 204, { 'Cache-Control': 'no-store' });
    },
  });
}

/** Resumes a stopped pipeline as a new job. */
export function registerResume(context: JobsContext): void {
  const { engineOf, rates, shutdown } = context;
  registerCustomMethod(context, {
    verb: 'resume',
    config: {
      operationId: 'resumeJob',
      summary: 'Resume a pipeline that failed, was canceled or timed out',
      description:
        'Starts a new job with its own ID. Finished steps are not run again, unless from includes them. Repeating the request gives the same job. If the job is still being canceled, waits up to 30 seconds for its end, then answers 503; repeat the request.',
      responses: responses(kickoffResponses, [
        ...BODY_PROBLEMS,
        'invalid-arguments',
        'job-not-found',
        'wrong-state',
        'job-expired',
        'value-lost',
        'rate-limited',
      ]),
    },
    body: z.strictObject({
      from: z
        .string()
        .min(1)
        .max(1000)
        .optional()
        .describe(
          'Step to resume from: job/2, job/Step name, or a job. Default: after the last finished step.',
        ),
      changes: z
        .record(z.string(), z.unknown())
        .optional()
        .describe('Changed arguments, for the steps that will run.'),
    }),
    middleware: rates.limit('kickoff'),
    async handle(c, id, body) {
      const options = {
        ...body,
        leastKeepAliveSeconds: MIN_KEEP_ALIVE_SECONDS,
        signal: AbortSignal.any([c.req.raw.signal, shutdown.signal]),
      };
      const record = await engineOf(c)
        .resume(id, options)
        .catch((error: unknown) => {
          throw asProblem(error, 'conflict', 'wrong-state');
        });
      return kickoffResponse(c, record, { replayed: record.runId !== '' });
    },
  });
}
