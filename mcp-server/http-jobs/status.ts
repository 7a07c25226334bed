/** `GET /v1/jobs/{id}`: a job's current state, or a long poll for its next change. */
import { z } from '@hono/zod-openapi';
import { isTerminal, type OperationRecord } from '../../operations/record.js';
import { isEndOrQuestion, WAIT_ENDED_HEADERS, waitHeaders, watchUntil, type JobsContext } from './context.js';
import { etagOf, jobHeaders, renderJob } from './rendering/render.js';
import { header, integer, job, jobParams, json, LONGEST_WAIT_SECONDS } from './rendering/schemas.js';
import { registerRoute } from './route.js';

const HEADERS = {
  ...WAIT_ENDED_HEADERS,
  ETag: header('Changes with every change of the job, also of its progress. Send it back as If-None-Match.'),
  'Retry-After': header(
    'Seconds until the next poll is worthwhile, from the estimate. Only while the job is open.',
    'integer',
  ),
};

export function registerStatus(context: JobsContext): void {
  registerRoute(
    context,
    {
      method: 'get',
      path: '/v1/jobs/{id}',
      operationId: 'getJob',
      tag: 'Jobs',
      summary: "Get a job's state",
      description:
        'With wait: a long poll. It answers once the job has ended or asks a question, or, with If-None-Match, once it has changed; at the latest after that many seconds. The end of a wait does not affect the job.',
      rate: 'status',
      params: jobParams,
      query: z.strictObject({
        wait: integer(0, LONGEST_WAIT_SECONDS, 'Maximum wait, in seconds. Default: 0.'),
      }),
      headers: z.object({
        'if-none-match': z.string().optional().describe('ETag of an earlier response.'),
      }),
      success: {
        200: json(job, 'The job.', HEADERS),
        304: { description: 'Not modified: If-None-Match has the current entity tag.', headers: HEADERS },
      },
      problems: ['job-not-found', 'job-expired'],
    },
    async (c, { params: { id }, query: { wait = 0 } }) => {
      const known = c.req.header('if-none-match');
      const hasChanged = (record: OperationRecord) => !matchesEtag(known, etagOf(renderJob(record)));
      const isWanted = (record: OperationRecord) =>
        known === undefined ? isEndOrQuestion(record) : isTerminal(record.status) || hasChanged(record);
      const waiting = { seconds: wait, isWanted, progress: known !== undefined };
      const awaited = wait > 0 ? await watchUntil(context, c, id, waiting) : undefined;
      const record = awaited ?? (await context.engineOf(c).read(id));
      const body = renderJob(record);
      const etag = etagOf(body);
      const headers = {
        ETag: etag,
        'Cache-Control': 'no-cache',
        ...jobHeaders(record),
        ...waitHeaders(context, record),
      };
      return matchesEtag(known, etag) ? c.body(null, 304, headers) : c.json(body, 200, headers);
    },
  );
}

/** Weak comparison (RFC 9110, section 13.1.2). */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  return ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((tag) => opaque(tag) === opaque(etag));
}
