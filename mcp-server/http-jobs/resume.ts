/** `POST /v1/jobs/{id}:resume`: going on where a job stopped, as a new job. */
import { z } from '@hono/zod-openapi';
import type { JobsContext } from './context.js';
import { kickoffResponses } from './kickoff-schemas.js';
import { kickoffResponse } from './kickoff.js';
import { asProblem } from './problems.js';
import { defined } from './render.js';
import { MIN_KEEP_ALIVE_SECONDS, responses } from './schemas.js';
import { registerCustomMethod } from './custom-method.js';

export function registerResume(context: JobsContext): void {
  const { engine, principalOf, rates, shutdown } = context;
  registerCustomMethod(context, {
    verb: 'resume',
    config: {
      operationId: 'resumeJob',
      summary: 'Resume a pipeline that failed, was canceled or timed out',
      description:
        'As a new job with an ID of its own. Finished steps are not run again, unless from says so. The same request again gives the same job. The end of one that is being canceled is waited for, for 30 seconds at most; then the answer is 503, and the request can be repeated.',
      responses: responses(kickoffResponses, [
        'invalid-json',
        'invalid-arguments',
        'job-not-found',
        'wrong-state',
        'job-expired',
        'too-large',
        'unsupported-media-type',
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
          'Step to go on from: job/2, job/Step name, or a job. Default: after the last finished one.',
        ),
      changes: z
        .record(z.string(), z.unknown())
        .optional()
        .describe('Arguments that are other than before, for the steps that still run.'),
    }),
    middleware: rates.limit('kickoff'),
    async handle(c, id, body) {
      const options = {
        ...defined(body),
        leastKeepAliveSeconds: MIN_KEEP_ALIVE_SECONDS,
        signal: AbortSignal.any([c.req.raw.signal, shutdown.signal]),
      };
      const record = await engine.resume(principalOf(c), id, options).catch((error: unknown) => {
        throw asProblem(error, 'conflict', 'wrong-state');
      });
      return kickoffResponse(c, record, { replayed: record.runId !== '' });
    },
  });
}
