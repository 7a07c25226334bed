/** Server-sent events (WHATWG HTML, "Server-sent events"), with a comment at each heartbeat. */
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { streamSSE, type SSEStreamingApi } from 'hono/streaming';
import { onHeartbeat } from '../shutdown/heartbeat.js';

/** Clients ignore a comment, and proxies see that the connection is in use. */
export const HEARTBEAT = ': heartbeat\n\n';

/** Answers a request with events. @param serve writes them until the stream ends. Its signal fires when the client disconnects */
export function eventStream(
  c: Context,
  serve: (stream: SSEStreamingApi, disconnected: AbortSignal) => Promise<void>,
): Response {
  // Otherwise nginx collects the events.
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

/** Breaks the connection of a stream, so the client doesn't take the stream for complete. */
export function cutOff(c: Context): void {
  (c.env as HttpBindings).outgoing.destroy();
}
