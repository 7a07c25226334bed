/** Heartbeats, and server-sent events (WHATWG HTML, "Server-sent events") with a comment at each heartbeat. */
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { streamSSE, type SSEStreamingApi } from 'hono/streaming';

/** Heartbeat interval of idle streams, in milliseconds. */
export const HEARTBEAT_MS = 15_000;

const listeners = new Set<() => void>();
let timer: NodeJS.Timeout | undefined;

/**
 * Calls the listener every {@link HEARTBEAT_MS}. A process has one timer for all listeners, which runs only while there are any.
 *
 * @returns unsubscribes the listener
 */
export function onHeartbeat(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    for (const one of listeners) one();
  }, HEARTBEAT_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Clients ignore a comment, and proxies see that the connection is in use. */
export const HEARTBEAT = ': heartbeat\n\n';

/** Answers a request with events. @param serve writes them until the stream ends. Its signal fires when the client disconnects */
export function eventStream(
  c: Context,
  serve: (stream: SSEStreamingApi, disconnected: AbortSignal) => Promise<void>,
): Response {
  // Otherwise nginx collects the events.
  c.header('X-Accel-Buffering', 'no');
  const response = streamSSE(c, async (stream) => {
    const disconnected = new AbortController();
    stream.onAbort(() => disconnected.abort());
    const quiet = onHeartbeat(() => void stream.write(HEARTBEAT));
    try {
      await serve(stream, disconnected.signal);
    } finally {
      quiet();
    }
  });
  // Node adds it for HTTP/1.1; HTTP/1.0 doesn't know it (RFC 9112, section 6.1).
  response.headers.delete('Transfer-Encoding');
  return response;
}

/** Breaks the connection of a stream, so the client doesn't take the stream for complete. */
export function cutOff(c: Context): void {
  (c.env as HttpBindings).outgoing.destroy();
}
