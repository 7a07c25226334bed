/** `DELETE /v1/jobs/{id}` and `POST /v1/jobs/{id}:cancel`, equivalent and idempotent; `POST /v1/jobs/{id}:delete`. */
import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { isTerminal, type OperationRecord } from '../../operations/record.js';
import { STATUS_NAMES } from '../../operations/status-names.js';
import { readBody } from './body.js';
import type { JobsContext } from './context.js';
import { Problem, type ProblemType } from './rendering/problems.js';
import { assertNotExpired, jobHeaders, renderJob, jobPath } from './rendering/render.js';
import { BODY_PROBLEMS, job, jobParams, json } from './rendering/schemas.js';
import { registerRoute } from './route.js';

const reason = z
  .string()
  .min(1)
  .max(500)
  .optional()
  .openapi({ type: 'string', minLength: 1, maxLength: 500, description: 'Stored with the job.' });

const FORCE = 'Ends the work at once, without its cleanups: for a job that a cancel did not end.';

export const cancelBody = z.strictObject({
  reason,
  force: z.boolean().optional().openapi({ type: 'boolean', description: FORCE }),
});

const query = z.strictObject({
  reason,
  force: z
    .enum(['true', 'false'])
    .optional()
    .openapi({ type: 'string', enum: ['true', 'false'], description: FORCE }),
});

type HowToCancel = z.output<typeof cancelBody>;

const shared = {
  tag: 'Jobs' as const,
  summary: 'Cancel a job',
  description:
    'Ends the work for good. Partial results, logs and files are kept. A job that has ended in another way is unchanged (409).',
  params: jobParams,
  success: {
    200: json(job, 'The job is canceled.'),
    202: json(job, 'The job is being cancelled: it cleans up and then becomes canceled.'),
  },
};
const PROBLEM_TYPES: ProblemType[] = ['job-not-found', 'job-expired', 'wrong-state'];

export function registerCancel(context: JobsContext): void {
  registerRoute(
    context,
    {
      ...shared,
      method: 'post',
      path: '/v1/jobs/{id}:cancel',
      operationId: 'cancelJob',
      body: cancelBody,
      problems: PROBLEM_TYPES,
    },
    (c, { params, body }) => cancel(context, c, params.id, body),
  );
  registerRoute(
    context,
    {
      ...shared,
      method: 'delete',
      path: '/v1/jobs/{id}',
      operationId: 'deleteJob',
      query,
      problems: [...PROBLEM_TYPES, ...BODY_PROBLEMS],
    },
    async (c, { params, query }) => {
      // Not documented: bodies of DELETE have no defined meaning.
      const inBody = await readBody(c, cancelBody);
      const { reason = inBody.reason, force = String(inBody.force) } = query;
      return cancel(context, c, params.id, { reason, force: force === 'true' });
    },
  );
}

/** Removes a job that has ended. `DELETE /v1/jobs/{id}` cancels. */
export function registerDelete(context: JobsContext): void {
  registerRoute(
    context,
    {
      method: 'post',
      path: '/v1/jobs/{id}:delete',
      operationId: 'deleteEndedJob',
      tag: 'Jobs',
      summary: 'Delete a job that has ended',
      description:
        'Removes the job with its result, partial result, files and logs for good, and frees its Idempotency-Key. Refused (409) for an open job, which must be cancelled first, and for a job that was resumed, while the job that resumed it exists.',
      params: jobParams,
      body: z.strictObject({}),
      success: { 204: { description: 'The job is deleted.' } },
      problems: ['job-not-found', 'wrong-state'],
    },
    async (c, { params }) => {
      await context.engineOf(c).delete(params.id);
      return c.body(null, 204, { 'Cache-Control': 'no-store' });
    },
  );
}

async function cancel(
  { engineOf }: JobsContext,
  c: Context,
  id: string,
  { reason, force }: HowToCancel,
): Promise<Response> {
  const engine = engineOf(c);
  const before = assertNotExpired(await engine.read(id));
  const isOpen = !isTerminal(before.status) && (await engine.cancel(id, reason, { force }));
  const record = isOpen || !isTerminal(before.status) ? await engine.read(id) : before;
  if (isTerminal(record.status) && record.status !== 'canceled') throw hasEnded(record);
  return c.json(renderJob(record), record.status === 'canceled' ? 200 : 202, {
    Location: jobPath(id),
    'Cache-Control': 'no-store',
    ...jobHeaders(record),
  });
}

/** @throws Problem `job-expired` */
function hasEnded(record: OperationRecord): Problem {
  const status = STATUS_NAMES[assertNotExpired(record).status].job;
  return new Problem('wrong-state', `the job has already ended: it is ${status}`, {
    members: { job_status: status, status_url: jobPath(record.token) },
  });
}
