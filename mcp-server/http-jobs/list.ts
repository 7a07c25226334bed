/** `GET /v1/jobs`: lists the caller's jobs. */
import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import PQueue from 'p-queue';
import type { ListFilter, OperationPage } from '../../engine/index.js';
import { isPastKeepAlive } from '../../operations/tool/budgets.js';
import { LonghaulError, undefinedIf } from '../../operations/errors.js';
import { snakeKeys } from '../../operations/json/snake-keys.js';
import { isTerminal, type ListedOperation } from '../../operations/record.js';
import { JOB_STATUSES, STATUS_NAMES, type JobStatus } from '../../operations/status-names.js';
import type { JobsContext } from './context.js';
import { LONGEST_KEY, LONGEST_SESSION, VISIBLE_ASCII } from './headers.js';
import { Problem } from './rendering/problems.js';
import { jobPath } from './rendering/render.js';
import { integer, job, json, pageCursor } from './rendering/schemas.js';
import { registerRoute } from './route.js';

const DEFAULT_LIMIT = 20;
const CONCURRENT_READS = 10;

/** Value of `user` for the caller's whole tenant. */
const ALL_USERS = 'all';

/** Filter for each status. Temporal's lists don't distinguish queued from running, so open jobs are read. */
const LISTED: Record<JobStatus, ListFilter['status']> = {
  queued: 'open',
  running: 'open',
  succeeded: 'completed',
  failed: 'failed',
  canceled: 'canceled',
  timed_out: 'timed_out',
};

const summary = job
  .pick({
    job_id: true,
    tool: true,
    status: true,
    status_url: true,
    stage: true,
    created_at: true,
    closed_at: true,
    cancel_requested: true,
  })
  .extend({
    user: z.string().optional().describe("Whose it is, if it isn't the caller's."),
    problem: z.string().optional().describe("What of it can't be read; the other fields are what is known."),
  })
  .openapi('JobSummary');
type Summary = z.output<typeof summary>;

const visible = (most: number) =>
  z.string().max(most).regex(VISIBLE_ASCII, `expected 1 to ${most} visible ASCII characters`).optional();

const query = z.strictObject({
  status: z.enum(JOB_STATUSES).optional(),
  tool: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/)
    .optional(),
  user: z
    .string()
    .max(200)
    .optional()
    .openapi({
      description:
        `The caller, or ${ALL_USERS} for all users of the caller's tenant, if a role allows it. Another user's jobs are not ` +
        'listed: the list is empty.',
    }),
  session: visible(2000).openapi({ description: 'Longhaul-Session or Mcp-Session-Id of the kickoffs.' }),
  idempotency_key: visible(LONGEST_KEY),
  created_after: z.iso
    .datetime({ offset: true })
    .optional()
    .openapi({ type: 'string', format: 'date-time', description: 'ISO 8601 with a time zone.' }),
  limit: integer(1, 100, `Jobs of a page. Default: ${DEFAULT_LIMIT}.`),
  cursor: pageCursor('next_cursor of the previous page, sent with the same filters.'),
});

export function registerList(context: JobsContext): void {
  registerRoute(
    context,
    {
      method: 'get',
      path: '/v1/jobs',
      operationId: 'listJobs',
      tag: 'Jobs',
      summary: 'List jobs, latest first',
      description:
        "Lists the caller's jobs. The list lags by seconds; a page may have fewer jobs than its limit although another page follows. To find out whether a kickoff succeeded, repeat it with its Idempotency-Key.",
      rate: 'status',
      query,
      success: {
        200: json(
          z.object({
            jobs: z.array(summary),
            next_cursor: z.string().optional().describe('Cursor of the next page; missing on the last one.'),
          }),
          'A page.',
        ),
      },
      problems: ['invalid-cursor'],
    },
    async (c, { query }) => {
      const { status, tool, user, session, idempotency_key, created_after, limit, cursor } = query;
      const engine = context.engineOf(c);
      const wholeTenant = user === ALL_USERS;
      if (user !== undefined && user !== engine.principal && !wholeTenant) return c.json({ jobs: [] }, 200);
      const filter: ListFilter = {
        limit: limit ?? DEFAULT_LIMIT,
        wholeTenant,
        tool,
        status: status && LISTED[status],
        session: session === undefined ? undefined : sessionsOf(context, session, engine.principal),
        idempotencyKey: idempotency_key,
        createdAfter: created_after === undefined ? undefined : new Date(created_after),
        cursor,
      };
      const page = await engine.list(filter).catch((error: unknown) => {
        throw listProblem(error);
      });
      const jobs = await summariesOf(context, c, page);
      return c.json(
        {
          jobs: status === undefined ? jobs : jobs.filter((one) => one.status === status),
          next_cursor: page.nextCursor,
        },
        200,
        { 'Cache-Control': 'no-store' },
      );
    },
  );
}

/** Scopes to filter by: an MCP session's if `session` is its ID, else the name itself. */
function sessionsOf({ mcpSessionOf }: JobsContext, session: string, principal: string): string[] {
  const ofMcp = mcpSessionOf(session, principal);
  if (!ofMcp && session.length > LONGEST_SESSION)
    throw new Problem(
      'invalid-request',
      `query.session: expected 1 to ${LONGEST_SESSION} characters, or the ID of an MCP session of this caller; got ${session.length}`,
    );
  return ofMcp ?? [session];
}

function listProblem(error: unknown): unknown {
  return error instanceof LonghaulError &&
    error.kind === 'invalid_arguments' &&
    error.message.startsWith('cursor:')
    ? new Problem('invalid-cursor', error.message, { cause: error })
    : error;
}

/** Summaries of a page: closed jobs as listed, open ones as read. Leaves out expired jobs. */
async function summariesOf(
  context: JobsContext,
  c: Context,
  { operations }: OperationPage,
): Promise<Summary[]> {
  const nowMs = await context.engineOf(c).nowMs();
  const kept = operations.filter((one) => !isPastKeepAlive(one, nowMs));
  const reads = new PQueue({ concurrency: CONCURRENT_READS });
  const summaries = await reads.addAll(kept.map((one) => () => summaryOf(context, c, one)));
  return summaries.filter((one) => one !== undefined);
}

async function summaryOf(
  { engineOf }: JobsContext,
  c: Context,
  listed: ListedOperation,
): Promise<Summary | undefined> {
  // The job may have been purged since it was listed.
  const now = isTerminal(listed.status)
    ? listed
    : await engineOf(c).read(listed.token).catch(undefinedIf('not_found'));
  if (!now || now.status === 'expired') return undefined;
  const { token, tool, status, stage, createdAt, closedAt, cancelRequestedAt, problem } = now;
  return {
    ...snakeKeys({ tool, createdAt, stage, closedAt, problem }),
    job_id: token,
    user: listed.owner,
    status: STATUS_NAMES[status].job,
    status_url: jobPath(token),
    cancel_requested: cancelRequestedAt !== undefined,
  };
}
