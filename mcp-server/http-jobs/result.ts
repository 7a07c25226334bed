/** `GET /v1/jobs/{id}/result` and `/partial`: the result or partial result as JSON of any size. */
import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { OperationRecord } from '../../operations/record.js';
import { STATUS_NAMES } from '../../operations/status-names.js';
import type { JobsContext } from './context.js';
import { Problem } from './rendering/problems.js';
import { assertPartialReadable, assertResultReadable } from '../call/results.js';
import { BYTES_HEADERS, NOT_MODIFIED, PART_HEADERS, sendBytes, streamOf } from './range.js';
import { assertNotExpired, hash } from './rendering/render.js';
import { jobParams, json } from './rendering/schemas.js';
import { registerRoute } from './route.js';

export const rangeHeaders = z.object({
  range: z.string().optional().openapi({ description: 'bytes=FIRST-LAST: a single range.' }),
  'if-range': z.string().optional(),
  'if-none-match': z.string().optional(),
});

const shared = {
  method: 'get' as const,
  tag: 'Results' as const,
  rate: 'status' as const,
  params: jobParams,
  headers: rangeHeaders,
  success: {
    200: json(z.unknown(), 'The whole result.', BYTES_HEADERS),
    206: json(z.unknown().openapi({}), 'The requested range.', PART_HEADERS),
    304: NOT_MODIFIED,
  },
  problems: [
    'job-not-found',
    'resource-not-found',
    'wrong-state',
    'job-expired',
    'value-lost',
    'range-not-satisfiable',
  ] as const,
};

export function registerResult(context: JobsContext): void {
  const { engineOf } = context;
  registerRoute(
    context,
    {
      ...shared,
      path: '/v1/jobs/{id}/result',
      operationId: 'getResult',
      summary: 'Get the result of a succeeded job',
      description:
        'Results over 1 MiB are available only here. Kept for at least a day after the end of the job.',
    },
    async (c, { params: { id } }) => {
      const record = assertNotExpired(await engineOf(c).read(id));
      if (record.status !== 'completed')
        throw new Problem(
          'wrong-state',
          `the job is ${STATUS_NAMES[record.status].job}; only a succeeded one has a result`,
        );
      assertResultReadable(record);
      return sendJson(c, record, 'result');
    },
  );
  registerRoute(
    context,
    {
      ...shared,
      path: '/v1/jobs/{id}/partial',
      operationId: 'getPartial',
      summary: 'Get the partial result of a job',
      description: 'Also for jobs that failed, were canceled or timed out.',
    },
    async (c, { params: { id } }) => {
      const record = assertNotExpired(await engineOf(c).readPartial(id));
      assertPartialReadable(record);
      if (record.partial === undefined)
        throw new Problem('resource-not-found', 'the job has no partial result yet');
      return sendJson(c, record, 'partial');
    },
  );
}

function sendJson(c: Context, record: OperationRecord, what: 'result' | 'partial') {
  const { runId, closedAt, [what]: value } = record;
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
