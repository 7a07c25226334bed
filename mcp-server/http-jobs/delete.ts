/** `POST /v1/jobs/{id}:delete`: removing a job that has ended. `DELETE /v1/jobs/{id}` cancels, and stays what it was. */
import { z } from '@hono/zod-openapi';
import type { JobsContext } from './context.js';
import { responses } from './schemas.js';
import { registerCustomMethod } from './custom-method.js';

export function registerDelete(context: JobsContext): void {
  const { engine, principalOf } = context;
  registerCustomMethod(context, {
    verb: 'delete',
    config: {
      operationId: 'deleteEndedJob',
      summary: 'Delete a job that has ended',
      description:
        'Removes its result, partial result, files and logs for good; then there is no such job, and its Idempotency-Key is free. An open job is refused (409): cancel it first. So is one that was resumed, while the job that goes on from it is there.',
      responses: responses({ 204: { description: 'The job is deleted.' } }, [
        'invalid-json',
        'job-not-found',
        'wrong-state',
        'too-large',
        'unsupported-media-type',
      ]),
    },
    body: z.strictObject({}),
    async handle(c, id) {
      await engine.delete(principalOf(c), id);
      return c.body(null, 204, { 'Cache-Control': 'no-store' });
    },
  });
}
