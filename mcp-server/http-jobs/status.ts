/** `GET /v1/jobs/{id}`: a job's current state, or a long poll for its next change. */
import { createRoute, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { isTerminal, type OperationRecord } from '../../operations/record.js';
import { withBudget } from '../call/budget.js';
import { signalOf, WAIT_ENDED_HEADERS, waitHeaders, type JobsContext } from './context.js';
import { RATE_HEADERS } from './rates.js';
import { etagOf, jobHeaders, renderJob } from './rendering/render.js';
import {
  header,
  integer,
  job,
  jobParams,
  json,
  LONGEST_WAIT_SECONDS,
  responses,
} from './rendering/schemas.js';

const HEADERS = {
  ...RATE_HEADERS,
  ...WAIT_ENDED_HEADERS,
  ETag: header('Changes with every change of the job, also of its progress. Send it back as If-None-Match.'),
  'Retry-After': {
    description: 'Seconds until the next poll is worthwhile, from the estimate. Only while the job is open.',
    schema: { type: 'integer' as const },
  },
};

export function registerStatus(context: JobsContext): void {
  const route = createRoute({
    method: 'get',
    path: '/v1/jobs/{id}',
    operationId: 'getJob',
    tags: ['Jobs'],
    summary: "Get a job's state",
    description:
      'With wait: a long poll. It answers once the job has ended or asks a question, or, with If-None-Match, once it has changed; at the latest after that many seconds. The end of a wait does not affect the job.',
    middleware: [context.rates.limit('status')],
    request: {
      params: jobParams,
      query: z.strictObject({
        wait: integer(0, LONGEST_WAIT_SECONDS, 'Maximum wait, in seconds. Default: 0.'),
      }),
      headers: z.object({
        'if-none-match': z.string().optional().describe('ETag of an earlier response.'),
      }),
    },
    responses: responses(
      {
        200: json(job, 'The job.', HEADERS),
        304: { description: 'Not modified: If-None-Match has the current entity tag.', headers: HEADERS },
      },
      ['job-not-found', 'job-expired', 'rate-limited'],
    ),
  });
  context.app.openapi(route, async (c) => {
    const { id } = c.req.valid('param');
    const { wait = 0 } = c.req.valid('query');
    const known = c.req.header('if-none-match');
    const record = wait > 0 ? await waitForChange(context, c, id, wait, known) : undefined;
    return jobResponse(context, c, record ?? (await context.engineOf(c).read(id)), known);
  });
}

/** A job, or 304 if If-None-Match matches. */
function jobResponse(
  context: JobsContext,
  c: Context,
  record: OperationRecord,
  known: string | undefined,
): Response {
  const body = renderJob(record);
  const etag = etagOf(body);
  const headers = {
    ETag: etag,
    'Cache-Control': 'no-cache',
    ...jobHeaders(record),
    ...waitHeaders(context, record),
  };
  return matchesEtag(known, etag) ? c.body(null, 304, headers) : c.json(body, 200, headers);
}

/** Weak comparison (RFC 9110, section 13.1.2). */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  return ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((tag) => opaque(tag) === opaque(etag));
}

/** The last state read. Undefined if none was. */
async function waitForChange(
  context: JobsContext,
  c: Context,
  id: string,
  waitSeconds: number,
  known: string | undefined,
): Promise<OperationRecord | undefined> {
  return withBudget(waitSeconds, signalOf(context, c), async (signal) => {
    let record: OperationRecord | undefined;
    const states = context.engineOf(c).watch(id, {
      signal,
      progress: known !== undefined,
    });
    for await (record of states) {
      const isOver = isTerminal(record.status);
      const isAsking = record.status === 'input_required';
      const isNew = known !== undefined && !matchesEtag(known, etagOf(renderJob(record)));
      if (isOver || (known === undefined ? isAsking : isNew)) break;
    }
    return record;
  });
}
