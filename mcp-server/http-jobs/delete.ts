/** `POST /v1/jobs/{id}:delete`: removes a job that has ended. (`DELETE /v1/jobs/{id}` cancels.) */
import { z } from '@hono/zod-openapi';
import type { JobsContext } from './context.js';
import { BODY_PROBLEMS, responses } from './schemas.js';
import { registerCustomMethod } from './custom-method.js';

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
