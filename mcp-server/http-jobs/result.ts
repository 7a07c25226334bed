/** `GET /v1/jobs/{id}/result` and `/partial`: the result, or what is finished so far, whole and as JSON. */
import { createRoute, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { OperationRecord } from '../../operations/record.js';
import { STATUS_NAMES } from '../../operations/status-names.js';
import type { JobsContext } from './context.js';
import { assertJobId } from './headers.js';
import { Problem } from './problems.js';
import { BYTES_HEADERS, PART_HEADERS, sendBytes, streamOf } from './range.js';
import { assertNotExpired, hash } from './render.js';
import { jobParams, json, responses } from './schemas.js';

export const rangeHeaders = z.object({
  range: z.string().optional().openapi({ description: 'bytes=FIRST-LAST: a single range.' }),
  'if-range': z.string().optional(),
  'if-none-match': z.string().optional(),
});

const RESPONSES = responses(
  {
    200: json(z.unknown(), 'All of it.', BYTES_HEADERS),
    206: {
      description: 'The range that was asked for.',
      headers: PART_HEADERS,
      content: { 'application/json': { schema: z.unknown().openapi({}) } },
    },
    304: { description: 'The client has it already.', headers: BYTES_HEADERS },
  },
  [
    'job-not-found',
    'resource-not-found',
    'wrong-state',
    'job-expired',
    'range-not-satisfiable',
    'rate-limited',
  ],
);

export function registerResult(context: JobsContext): void {
  const { app, engine, principalOf, rates } = context;
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
      summary: 'The result of a succeeded job',
      description: 'Of any size; results over 1 MiB are only here. Kept for at least a day after the end.',
    }),
    async (c) => {
      const { id } = c.req.valid('param');
      assertJobId(id);
      const record = assertNotExpired(await engine.read(principalOf(c), id));
      if (record.status !== 'completed')
        throw new Problem(
          'wrong-state',
          `the job is ${STATUS_NAMES[record.status].job}; only a succeeded one has a result`,
        );
      return sendJson(c, record, 'result', record.result);
    },
  );
  app.openapi(
    createRoute({
      ...shared,
      path: '/v1/jobs/{id}/partial',
      operationId: 'getPartial',
      summary: 'What a job has finished so far',
      description: 'Also of one that failed, was canceled or timed out.',
    }),
    async (c) => {
      const { id } = c.req.valid('param');
      assertJobId(id);
      const record = assertNotExpired(await engine.readLive(principalOf(c), id));
      if (record.partial === undefined)
        throw new Problem('resource-not-found', 'the job has finished nothing so far that could be shown');
      return sendJson(c, record, 'partial', record.partial);
    },
  );
}

function sendJson(c: Context, { runId, closedAt }: OperationRecord, what: string, value: unknown) {
  const bytes = Buffer.from(JSON.stringify(value) ?? 'null');
  // A closed run's result never changes, so that its bytes needn't be looked at.
  const source = closedAt === undefined ? bytes.toString() : '';
  return sendBytes(c, {
    sizeBytes: bytes.length,
    etag: `"${hash(`${what} ${runId} ${closedAt} ${source}`)}"`,
    contentType: 'application/json',
    stream: async (range) => streamOf(bytes, range),
  });
}
