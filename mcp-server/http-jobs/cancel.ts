/** `DELETE /v1/jobs/{id}` and `POST /v1/jobs/{id}:cancel`: equivalent and idempotent. */
import { createRoute, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { isTerminal, type OperationRecord } from '../../operations/record.js';
import { STATUS_NAMES } from '../../operations/status-names.js';
import { readBody } from './body.js';
import type { JobsContext } from './context.js';
import { Problem, type ProblemType } from './rendering/problems.js';
import { assertNotExpired, jobHeaders, renderJob, jobPath } from './rendering/render.js';
import { BODY_PROBLEMS, job, jobParams, json, responses } from './rendering/schemas.js';
import { registerCustomMethod } from './custom-method.js';

const reason = z
  .string()
  .min(1)
  .max(500)
  .optional()
  .openapi({ type: 'string', minLength: 1, maxLength: 500, description: 'Stored with the job.' });

const FORCE = 'Ends the work at once, without its cleanups: for a job that a cancel did not end.';

const body = z.strictObject({
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

type HowToCancel = z.output<typeof body>;

const RESPONSES = {
  200: json(job, 'The job is canceled.'),
  202: json(job, 'The job is being cancelled: it cleans up and then becomes canceled.'),
};
const PROBLEM_TYPES: ProblemType[] = ['job-not-found', 'job-expired', 'wrong-state'];
const SUMMARY = 'Cancel a job';
const DESCRIPTION =
  'Ends the work for good. Partial results, logs and files are kept. A job that has ended in another way is unchanged (409).';

export function registerCancel(context: JobsContext): void {
  registerCustomMethod(context, {
    verb: 'cancel',
    config: {
      operationId: 'cancelJob',
      summary: SUMMARY,
      description: DESCRIPTION,
      responses: responses(RESPONSES, [...PROBLEM_TYPES, ...BODY_PROBLEMS]),
    },
    body,
    handle: (c, id, body) => cancel(context, c, id, body),
  });
  context.app.openapi(
    createRoute({
      method: 'delete',
      path: '/v1/jobs/{id}',
      operationId: 'deleteJob',
      tags: ['Jobs'],
      summary: SUMMARY,
      description: DESCRIPTION,
      request: { params: jobParams, query },
      responses: responses(RESPONSES, [...PROBLEM_TYPES, ...BODY_PROBLEMS]),
    }),
    async (c) => {
      const { id } = c.req.valid('param');
      const inQuery = c.req.valid('query');
      const inBody = await readBody(c, body);
      const { reason = inBody.reason, force = String(inBody.force) } = inQuery;
      return cancel(context, c, id, { reason, force: force === 'true' });
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
