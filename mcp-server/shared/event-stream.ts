/** Server-sent events (WHATWG HTML, "Server-sent events"), with a comment at each heartbeat. */
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { streamSSE, type SSEStreamingApi } from 'hono/streaming';
import { onHeartbeat } from '../lifecycle/heartbeat.js';

/** A comment: clients ignore it, and proxies see that the connection is used. */
export const HEARTBEAT = ': heartbeat\n\n';

/**
 * Answers a request with events.
 *
 * @param serve writes them; the stream ends with it. Gets a signal that is aborted once the client has disconnected
 */
export function eventStream(
  c: Context,
  serve: (stream: SSEStreamingApi, disconnected: AbortSignal) => Promise<void>,
): Response {
  // nginx would collect the events.
  c.header('X-Accel-Buffering', 'no');
  return streamSSE(c, async (stream) => {
    const disconnected = new AbortController();
    stream.onAbort(() => disconnected.abort());
    const quiet = onHeartbeat(() => void stream.write(HEARTBEAT));
    try {
      await serve(stream, disconnected.signal);
    } finally {
      quiet();
    }
  });
}

/** Breaks the connection of a stream, which a client would otherwise take for complete. */
export function cutOff(c: Context): void {
  (c.env as HttpBindings).outgoing.destroy();
}
