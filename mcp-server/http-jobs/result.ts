/** `GET /v1/jobs/{id}/result` and `/partial`: the result or partial result as JSON of any size. */
import { createRoute, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { OperationRecord } from '../../operations/record.js';
import { STATUS_NAMES } from '../../operations/status-names.js';
import type { JobsContext } from './context.js';
import { Problem } from './rendering/problems.js';
import { assertPartialReadable, assertResultReadable } from '../call/results.js';
import { BYTES_HEADERS, NOT_MODIFIED, PART_HEADERS, sendBytes, streamOf } from './range.js';
import { assertNotExpired, hash } from './rendering/render.js';
import { jobParams, json, responses } from './rendering/schemas.js';

export const rangeHeaders = z.object({
  range: z.string().optional().openapi({ description: 'bytes=FIRST-LAST: a single range.' }),
  'if-range': z.string().optional(),
  'if-none-match': z.string().optional(),
});

const RESPONSES = responses(
  {
    200: json(z.unknown(), 'The whole result.', BYTES_HEADERS),
    206: {
      description: 'The requested range.',
      headers: PART_HEADERS,
      content: { 'application/json': { schema: z.unknown().openapi({}) } },
    },
    304: NOT_MODIFIED,
  },
  [
    'job-not-found',
    'resource-not-found',
    'wrong-state',
    'job-expired',
    'value-lost',
    'range-not-satisfiable',
    'rate-limited',
  ],
);

export function registerResult(context: JobsContext): void {
  const { app, engineOf, rates } = context;
  const shared = {
    method: 'get' as const,
    tags: ['Results'],
    middleware: [rates.limit('status')],
    request: { params: jobParams, headers: rangeHeaders },
    responses: RESPONSES,
  };
  app.openapi(
    createRoute({
      ...shared,
      path: '/v1/jobs/{id}/result',
      operationId: 'getResult',
      summary: 'Get the result of a succeeded job',
      description:
        'Results over 1 MiB are available only here. Kept for at least a day after the end of the job.',
    }),
    async (c) => {
      const { id } = c.req.valid('param');
      const record = assertNotExpired(await engineOf(c).read(id));
      if (record.status !== 'completed')
        throw new Problem(
          'wrong-state',
          `the job is ${STATUS_NAMES[record.status].job}; only a succeeded one has a result`,
        );
      assertResultReadable(record);
      return sendJson(c, record, 'result', record.result);
    },
  );
  app.openapi(
    createRoute({
      ...shared,
      path: '/v1/jobs/{id}/partial',
      operationId: 'getPartial',
      summary: 'Get the partial result of a job',
      description: 'Also for jobs that failed, were canceled or timed out.',
    }),
    async (c) => {
      const { id } = c.req.valid('param');
      const record = assertNotExpired(await engineOf(c).readPartial(id));
      assertPartialReadable(record);
      if (record.partial === undefined)
        throw new Problem('resource-not-found', 'the job has no partial result yet');
      return sendJson(c, record, 'partial', record.partial);
    },
  );
}

function sendJson(c: Context, { runId, closedAt }: OperationRecord, what: string, value: unknown) {
  const bytes = Buffer.from(JSON.stringify(value) ?? 'null');
  // A closed run's result never changes, so its bytes need no hash.
  const source = closedAt === undefined ? bytes.toString() : '';
  return sendBytes(c, {
    sizeBytes: bytes.length,
    etag: `"${hash(`${what} ${runId} ${closedAt} ${source}`)}"`,
    contentType: 'application/json',
    stream: async (range) => streamOf(bytes, range),
  });
}
