/** `POST /v1/tools/{tool}/jobs` and `POST /v1/jobs`: start a job. `POST /v1/jobs/{id}:resume`: resumes one as a new job. */
import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { isTerminal, type OperationRecord } from '../../operations/record.js';
import type { Tool } from '../../operations/tool/index.js';
import { agreedKey, takeIdempotencyKey } from '../call/idempotency-key.js';
import { isEndOrQuestion, signalOf, waitHeaders, watchUntil, type JobsContext } from './context.js';
import {
  idempotencyKeyOf,
  isVisibleAscii,
  LONGEST_SESSION,
  preferencesOf,
  type Preferences,
} from './headers.js';
import {
  DEFAULT_WAIT_SECONDS,
  IDEMPOTENCY_RULE,
  KICKOFF_PATH,
  KICKOFF_PROBLEMS,
  kickoffArguments,
  kickoffHeaders,
  kickoffQuery,
  kickoffResponses,
} from './rendering/kickoff-schemas.js';
import { asProblem, Problem } from './rendering/problems.js';
import { jobHeaders, renderJob, jobPath } from './rendering/render.js';
import { jobParams, MIN_KEEP_ALIVE_SECONDS, LONGEST_WAIT_SECONDS } from './rendering/schemas.js';
import { registerRoute } from './route.js';

const shared = {
  method: 'post' as const,
  tag: 'Jobs' as const,
  rate: 'kickoff' as const,
  query: kickoffQuery,
  headers: kickoffHeaders,
  success: kickoffResponses,
  problems: KICKOFF_PROBLEMS,
};

export function registerKickoff(context: JobsContext): void {
  registerRoute(
    context,
    {
      ...shared,
      path: KICKOFF_PATH,
      operationId: 'startJobOfTool',
      summary: 'Start a job',
      description:
        "The body is the tool's arguments. Its schema is under the tool's own path, and at GET /v1/tools/{tool}.",
      params: z.object({ tool: z.string().openapi({ maxLength: 64 }) }),
      body: kickoffArguments,
    },
    (c, { params, query, body }) => kickOff(context, c, { tool: params.tool, arguments: body }, query),
  );
  registerRoute(
    context,
    {
      ...shared,
      path: '/v1/jobs',
      operationId: 'startJob',
      summary: 'Start a job of the tool that the body names',
      body: z.strictObject({ tool: z.string(), arguments: kickoffArguments.optional() }),
      isBodyRequired: true,
    },
    (c, { query, body }) => kickOff(context, c, body, query),
  );
}

/** Resumes a stopped pipeline as a new job. */
export function registerResume(context: JobsContext): void {
  registerRoute(
    context,
    {
      method: 'post',
      path: '/v1/jobs/{id}:resume',
      operationId: 'resumeJob',
      tag: 'Jobs',
      summary: 'Resume a pipeline that failed, was canceled or timed out',
      description:
        'Starts a new job with its own ID. Finished steps are not run again, unless from includes them. Repeating the request gives the same job. If the job is still being canceled, waits up to 30 seconds for its end, then answers 503; repeat the request.',
      rate: 'kickoff',
      params: jobParams,
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
      success: kickoffResponses,
      problems: ['invalid-arguments', 'job-not-found', 'wrong-state', 'job-expired', 'value-lost'],
    },
    async (c, { params, body }) => {
      const signal = signalOf(context, c);
      const options = { ...body, leastKeepAliveSeconds: MIN_KEEP_ALIVE_SECONDS, signal };
      const record = await context
        .engineOf(c)
        .resume(params.id, options)
        .catch((error: unknown) => {
          throw asProblem(error, 'conflict', 'wrong-state');
        });
      return kickoffResponse(c, record, { replayed: record.runId !== '' });
    },
  );
}

async function kickOff(
  context: JobsContext,
  c: Context,
  {
    tool: toolName,
    arguments: given = {},
  }: { tool: string; arguments?: Record<string, unknown> | undefined },
  { keep_alive_seconds: keepAliveSeconds }: z.output<typeof kickoffQuery>,
): Promise<Response> {
  const engine = context.engineOf(c);
  const tool = engine.tool(toolName);
  const preferences = preferencesOf(c);
  const { args, idempotencyKey: argument } = takeIdempotencyKey(given);
  const idempotencyKey = agreedKey(argument, 'the header Idempotency-Key', idempotencyKeyOf(c));
  const session = sessionOf(context, c);
  const started = await engine.start(tool, args, {
    keepAliveSeconds: Math.max(MIN_KEEP_ALIVE_SECONDS, keepAliveSeconds ?? tool.keepAliveSeconds),
    idempotencyKey,
    session,
  });
  const waitSeconds = waitOf(tool, preferences);
  const isWaiting = waitSeconds > 0 && !isTerminal(started.status);
  // A question can't be answered within the wait.
  const waiting = { seconds: waitSeconds, onlyEnd: started.asksNothing, isWanted: isEndOrQuestion };
  const record = (isWaiting && (await watchUntil(context, c, started.token, waiting))) || started;
  return kickoffResponse(c, record, {
    // Only a job from before this request has a known run ID.
    replayed: started.runId !== '',
    key: idempotencyKey,
    applied: appliedOf(preferences, waitSeconds, isTerminal(record.status)),
    headers: waitSeconds > 0 ? waitHeaders(context, record) : {},
  });
}

/** Response for a job that this request, or an earlier one, started. @throws Problem `job-expired` */
function kickoffResponse(
  c: Context,
  record: OperationRecord,
  {
    key,
    replayed,
    applied = '',
    headers = {},
  }: { key?: string; replayed: boolean; applied?: string; headers?: Record<string, string> },
): Response {
  const path = jobPath(record.token);
  const body = {
    ...renderJob(record),
    estimated_duration_seconds: record.estimateSeconds ?? 0,
    idempotency: {
      key,
      replayed,
      kept_seconds_after_end: record.keepAliveSeconds,
      rule: IDEMPOTENCY_RULE,
    },
  };
  const isOver = isTerminal(record.status);
  return c.json(body, isOver ? 200 : 202, {
    Location: path,
    'Cache-Control': 'no-store',
    ...(isOver ? { 'Content-Location': path } : {}),
    ...(applied ? { 'Preference-Applied': applied } : {}),
    ...(replayed ? { 'Idempotent-Replayed': 'true' } : {}),
    ...jobHeaders(record),
    ...headers,
  });
}

/** In seconds; 0 unless the tool is short (RFC 7240, sections 4.1 and 4.3). */
function waitOf(tool: Tool, { respondAsync, wait }: Preferences): number {
  if (!tool.wait) return 0;
  return Math.min(wait ?? (respondAsync ? 0 : DEFAULT_WAIT_SECONDS), LONGEST_WAIT_SECONDS);
}

/** Preference-Applied (RFC 7240, section 3). */
function appliedOf({ respondAsync, wait }: Preferences, waitSeconds: number, isOver: boolean): string {
  return [
    ...(respondAsync && !isOver ? ['respond-async'] : []),
    ...(wait !== undefined && waitSeconds > 0 ? [`wait=${waitSeconds}`] : []),
  ].join(', ');
}

/** The session that lists the job: Longhaul-Session, else the MCP session of Mcp-Session-Id. @throws Problem `invalid-session` */
function sessionOf(context: JobsContext, c: Context): string | undefined {
  const named = c.req.header('longhaul-session');
  if (named !== undefined) {
    if (isVisibleAscii(named, LONGEST_SESSION)) return named;
    throw new Problem(
      'invalid-session',
      `Longhaul-Session: expected 1 to ${LONGEST_SESSION} visible ASCII characters; got ${named.length}`,
    );
  }
  const mcp = c.req.header('mcp-session-id');
  if (mcp === undefined) return undefined;
  const [session] = context.mcpSessionOf(mcp, context.engineOf(c).principal) ?? [];
  if (session === undefined)
    throw new Problem(
      'invalid-session',
      'Mcp-Session-Id: expected the ID of an open MCP session of this caller',
    );
  return session;
}
