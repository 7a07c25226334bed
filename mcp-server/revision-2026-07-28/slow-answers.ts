/**
 * Answers that are slow in coming: an HTTP client, or a proxy before it, gives up on a connection on which nothing
 * arrives. The SDK opens a stream only with the first message, and a wait without progress has none.
 */
import { withTimeout } from '../shared/budget.js';
import { HEARTBEAT_MS, onHeartbeat } from '../lifecycle/heartbeat.js';

/** Longest first line of a stream that isn't the answer itself: a comment (WHATWG HTML, "Server-sent events"). */
const COMMENT = ': heartbeat\n\n';

/**
 * Gives the answer as it is when it comes before the first heartbeat is due, else a stream of comments that ends with
 * it.
 *
 * @param request whose answer it is; one that takes no streams gets none
 */
export async function streamWhenSlow(request: Request, answer: Promise<Response>): Promise<Response> {
  if (!request.headers.get('accept')?.includes('text/event-stream')) return answer;
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
    // The client has gone, or the exchange was closed without an answer: there is nobody, or nothing, to tell.
    await writer.abort().catch(() => undefined);
  }
}
