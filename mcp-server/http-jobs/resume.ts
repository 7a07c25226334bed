/** `POST /v1/jobs/{id}:resume`: resumes a stopped pipeline as a new job. */
import { z } from '@hono/zod-openapi';
import type { JobsContext } from './context.js';
import { kickoffResponses } from './kickoff-schemas.js';
import { kickoffResponse } from './kickoff.js';
import { asProblem } from './problems.js';
import { BODY_PROBLEMS, MIN_KEEP_ALIVE_SECONDS, responses } from './schemas.js';
import { registerCustomMethod } from './custom-method.js';

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
