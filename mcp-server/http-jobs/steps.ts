/** `GET /v1/jobs/{id}/logs`: links to the logs of a job and its steps. */
import { createRoute, z } from '@hono/zod-openapi';
import { OPERATION_LOG } from '../../operations/wire/log-page.js';
import type { ChildStatus, OperationRecord } from '../../operations/record.js';
import { JOB_STATUSES, PART_STATUS_NAMES, partStatusIn } from '../../operations/status-names.js';
import { stepReference, stepsOf } from '../../operations/steps.js';
import type { JobsContext } from './context.js';
import { assertNotExpired, jobPath } from './rendering/render.js';
import { jobParams, json, responses } from './rendering/schemas.js';

export const stepStatus = z.enum([...JOB_STATUSES, 'skipped']).openapi('StepStatus');
type StepStatus = z.output<typeof stepStatus>;

const pageName = z.string().optional().describe('Name of a page: only the steps of its items.');

const step = z
  .object({
    step: z.string().describe('Reference: job/position, e.g. build/2.'),
    name: z.string(),
    status: stepStatus,
    exit_code: z.int().optional(),
    started_at: z.iso.datetime().optional(),
    closed_at: z.iso.datetime().optional(),
    log_url: z.string(),
  })
  .openapi('Step');

export function registerSteps(context: JobsContext): void {
  const { app, engineOf, rates } = context;
  app.openapi(
    createRoute({
      method: 'get',
      path: '/v1/jobs/{id}/logs',
      operationId: 'listSteps',
      tags: ['Results'],
      summary: 'List the logs of a job and of its steps',
      description: 'Only pipelines have steps with logs.',
      middleware: [rates.limit('status')],
      request: { params: jobParams, query: z.object({ page: pageName }) },
      responses: responses(
        {
          200: json(
            z.object({
              pages: z
                .array(z.object({ name: z.string(), status: stepStatus, steps_url: z.string() }))
                .optional()
                .describe('Ranges of the items of a job with many; each has its own list.'),
              log_url: z.string().describe("The job's own log, written by its workflows and activities."),
              steps: z.array(step),
              is_live: z.boolean().describe('False: no worker was available, so steps may be missing.'),
            }),
            'The logs.',
          ),
        },
        ['job-not-found', 'job-expired', 'rate-limited', 'invalid-arguments'],
      ),
    }),
    async (c) => {
      const { id } = c.req.valid('param');
      const { page } = c.req.valid('query');
      const engine = engineOf(c);
      const record = assertNotExpired(await engine.readLive(id));
      const children = page === undefined ? record.children : await engine.readPage(record, page);
      const isLive = (record.live || record.closedAt !== undefined) && !record.areChildrenLarge;
      const logs = {
        log_url: logPath(record.token, OPERATION_LOG),
        steps: stepsIn({ ...record, children: children ?? [] }),
        pages: page === undefined ? pagesIn(record) : undefined,
        is_live: isLive,
      };
      return c.json(logs, 200, { 'Cache-Control': 'no-cache' });
    },
  );
}

function pagesIn(record: OperationRecord) {
  const pages = (record.children ?? []).filter(({ page }) => page);
  if (pages.length === 0) return undefined;
  return pages.map(({ name, status }) => ({
    name,
    status: stepStatusOf(status, record),
    steps_url: `${jobPath(record.token)}/logs?page=${encodeURIComponent(name)}`,
  }));
}

function stepsIn(record: OperationRecord): z.output<typeof step>[] {
  return stepsOf(record.children ?? []).map((chosen) => {
    const { name, status, exitCode, startedAt, closedAt } = chosen.step;
    const reference = stepReference(chosen);
    return {
      step: reference,
      name,
      status: stepStatusOf(status, record),
      exit_code: exitCode,
      started_at: startedAt,
      closed_at: closedAt,
      log_url: logPath(record.token, reference),
    };
  });
}

export function stepStatusOf(status: ChildStatus, { status: ofJob }: OperationRecord): StepStatus {
  return PART_STATUS_NAMES[partStatusIn(ofJob, status)].job;
}

export function logPath(id: string, reference: string): string {
  return `${jobPath(id)}/logs/${encodeURIComponent(reference)}`;
}
