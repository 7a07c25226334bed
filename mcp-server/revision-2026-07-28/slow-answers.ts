/**
 * Heartbeats for slow responses: HTTP clients and proxies close idle connections, and the SDK opens a stream only with the
 * first message, which a wait without progress doesn't send.
 */
import { withTimeout } from '../../platform/with-timeout.js';
import { EVENT_STREAM_TYPE, isNamed } from '../shared/accept.js';
import { HEARTBEAT_MS, onHeartbeat } from '../lifecycle/heartbeat.js';

/** A comment of an event stream (WHATWG HTML, "Server-sent events"). */
const COMMENT = ': heartbeat\n\n';

/**
 * Returns the response unchanged if it is ready before the first heartbeat is due, else a stream of comments that ends with
 * it.
 *
 * @param request the request; unless its `Accept` names `text/event-stream`, its response is never streamed
 */
export async function streamWhenSlow(request: Request, answer: Promise<Response>): Promise<Response> {
  if (!isNamed(request.headers.get('accept') ?? undefined, EVENT_STREAM_TYPE)) return answer;
  const inTime = await withTimeout(answer, HEARTBEAT_MS);
  if (inTime) return inTime;
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  void pass(answer, writable);
  return new Response(readable, {
    headers: {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-cache, no-transform',
      'X-Accel-Buffering': 'no',
    },
  });
}

async function pass(answer: Promise<Response>, writable: WritableStream<Uint8Array>): Promise<void> {
  const writer = writable.getWriter();
  const write = (text: string) => writer.write(Buffer.from(text)).catch(() => undefined);
  void write(COMMENT);
  const quiet = onHeartbeat(() => void write(COMMENT));
  try {
    const response = await answer.finally(quiet);
    if (response.headers.get('content-type')?.includes('text/event-stream')) {
      writer.releaseLock();
      await response.body?.pipeTo(writable);
      return;
    }
    await write(`event: message\ndata: ${await response.text()}\n\n`);
    await writer.close();
  } catch {
    // The client has disconnected, or the exchange was closed without a response.
    await writer.abort().catch(() => undefined);
  }
}
