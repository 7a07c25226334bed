/** `POST /v1/tools/{tool}/jobs` and `POST /v1/jobs`: start a job. */
import { createRoute, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { isTerminal, type OperationRecord } from '../../operations/record.js';
import type { Tool } from '../../operations/tool/index.js';
import { withBudget } from '../call/budget.js';
import { agreedKey, takeIdempotencyKey } from '../call/idempotency-key.js';
import { signalOf, waitHeaders, type JobsContext } from './context.js';
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
import { Problem } from './rendering/problems.js';
import { jobHeaders, renderJob, jobPath } from './rendering/render.js';
import { MIN_KEEP_ALIVE_SECONDS, LONGEST_WAIT_SECONDS, responses } from './rendering/schemas.js';

export function registerKickoff(context: JobsContext): void {
  const middleware = [context.rates.limit('kickoff')];
  const shared = { tags: ['Jobs'], middleware, responses: responses(kickoffResponses, KICKOFF_PROBLEMS) };
  context.app.openapi(
    createRoute({
      ...shared,
      method: 'post',
      path: KICKOFF_PATH,
      operationId: 'startJobOfTool',
      summary: 'Start a job',
      description:
        "The body is the tool's arguments. Its schema is under the tool's own path, and at GET /v1/tools/{tool}.",
      request: {
        params: z.object({ tool: z.string().openapi({ maxLength: 64 }) }),
        query: kickoffQuery,
        headers: kickoffHeaders,
        body: { content: { 'application/json': { schema: kickoffArguments } } },
      },
    }),
    (c) => {
      const { keep_alive_seconds: keepAlive } = c.req.valid('query');
      return kickOff(context, c, c.req.valid('param').tool, c.req.valid('json'), keepAlive);
    },
  );
  context.app.openapi(
    createRoute({
      ...shared,
      method: 'post',
      path: '/v1/jobs',
      operationId: 'startJob',
      summary: 'Start a job of the tool that the body names',
      request: {
        query: kickoffQuery,
        headers: kickoffHeaders,
        body: {
          required: true,
          content: {
            'application/json': {
              schema: z.strictObject({ tool: z.string(), arguments: kickoffArguments.optional() }),
            },
          },
        },
      },
    }),
    (c) => {
      const { tool, arguments: given = {} } = c.req.valid('json');
      const { keep_alive_seconds: keepAlive } = c.req.valid('query');
      return kickOff(context, c, tool, given, keepAlive);
    },
  );
}

async function kickOff(
  context: JobsContext,
  c: Context,
  toolName: string,
  given: Record<string, unknown>,
  keepAliveSeconds: number | undefined,
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
  const record = waitSeconds > 0 ? await waitForEnd(context, c, started, waitSeconds) : started;
  return kickoffResponse(c, record, {
    // Only a job from before this request has a known run ID.
    replayed: started.runId !== '',
    key: idempotencyKey,
    applied: appliedOf(preferences, waitSeconds, isTerminal(record.status)),
    headers: waitSeconds > 0 ? waitHeaders(context, record) : {},
  });
}

/** Response for a job that this request, or an earlier one, started. @throws Problem `job-expired` */
export function kickoffResponse(
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

/** Waits until the job ends, asks a question (then it can't end within the wait), or the time is up. */
async function waitForEnd(
  context: JobsContext,
  c: Context,
  started: OperationRecord,
  seconds: number,
): Promise<OperationRecord> {
  if (isTerminal(started.status)) return started;
  return withBudget(seconds, signalOf(context, c), async (signal) => {
    let record = started;
    const options = { signal, onlyEnd: started.asksNothing };
    for await (record of context.engineOf(c).watch(started.token, options))
      if (isTerminal(record.status) || record.status === 'input_required') break;
    return record;
  });
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
