/** `GET /v1/jobs/{id}/events`: a job's events as server-sent events. A client can resume the stream on any server process. */
import { z } from '@hono/zod-openapi';
import type { SSEMessage } from 'hono/streaming';
import type { EventPosition, OperationEvent } from '../../engine/index.js';
import { LonghaulError } from '../../operations/errors.js';
import { snakeKeys } from '../../operations/json/snake-keys.js';
import { STATUS_NAMES } from '../../operations/status-names.js';
import { sealOf, type Seal } from '../../platform/home/seal.js';
import { withTimeout } from '../../platform/with-timeout.js';
import { RETRY_AFTER_SECONDS, SERVER_STOPPING } from '../shutdown/index.js';
import { cutOff, eventStream, HEARTBEAT_MS } from '../http/event-stream.js';
import { signalOf, type JobsContext } from './context.js';
import { Problem } from './rendering/problems.js';
import { assertNotExpired, renderJob } from './rendering/render.js';
import { jobParams } from './rendering/schemas.js';
import { registerRoute } from './route.js';

/** How long a reader may leave an event unread before it is disconnected, in milliseconds. */
export const SLOW_READER_MS = 20_000;
/** Reconnection time sent to clients (SSE's `retry`), in milliseconds. */
const RETRY_MS = 1_000;

const DESCRIPTION = `Server-sent events, from the job's first or, with Last-Event-ID, from the one after it, on any server process: each status, input_required and log event comes once and in order. Events:

- status: {job_id, status, stage?, cancel_requested, input_required, gap?, at}; with gap, events before it are no longer kept
- input_required: {job_id, key, message, schema, expires_at?, at}
- progress: {job_id, progress, total?, message?}; has no id and is not replayed
- log: {job_id, step, name?, lines: [{number, text, is_continued?, is_unfinished?}]}; without a name, step is "operation": the job's own log
- ${SERVER_STOPPING}: {job_id, retry_after_seconds}; the server is stopping and the stream ends, while the job continues: reconnect with the ID of the previous event. Has no id.
- result: the job, as GET /v1/jobs/{id} has it, and logs_cut when the list of its steps could not be read. The last event: the stream ends, and reconnecting answers 204.

A comment comes at least every ${HEARTBEAT_MS / 1000} s. A reader that takes nothing is disconnected and can reconnect.`;

/** One event. OpenAPI 3.1 has no schema for the stream itself. */
const streamEvent = z
  .object({
    id: z.string().optional().describe('Send it back as Last-Event-ID.'),
    event: z.enum(['status', 'input_required', 'progress', 'log', SERVER_STOPPING, 'result']).optional(),
    data: z.string().optional().describe('JSON.'),
  })
  .openapi('JobEvent');

export function registerEvents(context: JobsContext): void {
  registerRoute(
    context,
    {
      method: 'get',
      path: '/v1/jobs/{id}/events',
      operationId: 'streamJobEvents',
      tag: 'Jobs',
      summary: "Stream a job's events",
      description: DESCRIPTION,
      rate: 'status',
      params: jobParams,
      query: z.strictObject({}),
      headers: z.object({
        'last-event-id': z.string().optional().describe('ID of the last event received.'),
      }),
      success: {
        200: { description: 'The events.', content: { 'text/event-stream': { schema: streamEvent } } },
        204: { description: 'Last-Event-ID names the last event: nothing more will come.' },
      },
      problems: ['job-not-found', 'job-expired', 'invalid-event-id'],
    },
    async (c, { params: { id } }) => {
      const engine = context.engineOf(c);
      const record = assertNotExpired(await engine.read(id));
      // Rejects IDs of another job or caller, and of earlier formats.
      const ids = sealOf<EventPosition>(context.secret, `job events 2 ${engine.principal} ${id}`);
      const from = positionOf(ids, c.req.header('last-event-id'));
      if (from?.isOver && from.runId === record.runId) return c.body(null, 204);
      const stream = eventStream(c, async (sse, disconnected) => {
        const signal = AbortSignal.any([signalOf(context, c), disconnected]);
        try {
          // Sent at once, so clients and proxies see an open stream.
          await sse.write(`retry: ${RETRY_MS}\n: open\n\n`);
          const events = engine.events(id, { signal, from });
          // Each event is written once the previous one was read, so a slow reader costs only a few buffered events.
          for await (const event of shown(context, id, events, ids)) {
            const written = sse.writeSSE(event).then(() => true);
            if (!(await withTimeout(written, SLOW_READER_MS))) return cutOff(c);
          }
        } catch {
          cutOff(c);
        }
      });
      return c.body(stream.body!, 200);
    },
  );
}

/** @throws Problem `invalid-event-id` */
function positionOf(ids: Seal<EventPosition>, lastEventId: string | undefined): EventPosition | undefined {
  if (!lastEventId) return undefined;
  const position = ids.open(lastEventId);
  if (position) return position;
  throw new Problem(
    'invalid-event-id',
    'Last-Event-ID: expected the id of an event of this job, unchanged; got another text',
  );
}

async function* shown(
  context: JobsContext,
  jobId: string,
  events: AsyncGenerator<OperationEvent>,
  ids: Seal<EventPosition>,
): AsyncGenerator<SSEMessage> {
  try {
    for await (const event of events) {
      const id = 'position' in event ? { id: ids.seal(event.position) } : {};
      yield { ...id, event: event.kind, data: JSON.stringify(dataOf(jobId, event)) };
      if (event.kind === 'result') return;
    }
    if (context.shutdown.hasBegun) {
      const data = { job_id: jobId, retry_after_seconds: RETRY_AFTER_SECONDS };
      yield { event: SERVER_STOPPING, data: JSON.stringify(data) };
    }
  } catch (error) {
    // The job was purged during the stream. A client that reconnects gets 404 or 410.
    if (error instanceof LonghaulError && (error.kind === 'not_found' || error.kind === 'expired')) return;
    context.logger.error({ err: error }, 'a stream of events failed');
    throw error;
  }
}

function dataOf(jobId: string, event: OperationEvent): object {
  const job = { job_id: jobId };
  switch (event.kind) {
    case 'status':
      return {
        ...job,
        status: STATUS_NAMES[event.status].job,
        stage: event.stage,
        cancel_requested: event.isCancelRequested,
        input_required: event.status === 'input_required',
        gap: event.isGap,
        at: event.at,
      };
    case 'input_required': {
      const { message, schema, expiresAt } = event.request;
      return { ...job, key: event.key, message, schema, expires_at: expiresAt, at: event.at };
    }
    case 'progress':
      return { ...job, ...event.progress };
    case 'log':
      return { ...job, step: event.step, name: event.name, lines: event.lines.map(snakeKeys) };
    case 'result':
      return { ...renderJob(event.record), ...(event.areLogsCut ? { logs_cut: true } : {}) };
  }
}
