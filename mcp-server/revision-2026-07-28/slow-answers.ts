/**
 * Heartbeats for slow responses. HTTP clients and proxies close idle connections, and the SDK opens a stream only with the first
 * message, which a wait without progress doesn't send.
 */
import type { Context } from 'hono';
import { withTimeout } from '../../platform/with-timeout.js';
import { EVENT_STREAM_TYPE, isNamed } from '../shared/accept.js';
import { cutOff, eventStream, HEARTBEAT } from '../shared/event-stream.js';
import { HEARTBEAT_MS } from '../lifecycle/heartbeat.js';

/** Answers at once if ready before the first heartbeat, else by a stream of comments, if the request accepts `text/event-stream`. */
export async function streamWhenSlow(c: Context, answer: Promise<Response>): Promise<Response> {
  if (!isNamed(c.req.header('accept'), EVENT_STREAM_TYPE)) return answer;
  const inTime = await withTimeout(answer, HEARTBEAT_MS);
  if (inTime) return inTime;
  return eventStream(c, async (stream) => {
    await stream.write(HEARTBEAT);
    try {
      const response = await answer;
      const isStream = response.headers.get('content-type')?.includes(EVENT_STREAM_TYPE);
      if (isStream && response.body) await stream.pipe(response.body);
      else await stream.writeSSE({ event: 'message', data: await response.text() });
    } catch {
      // The client has disconnected, or the exchange was closed without a response.
      cutOff(c);
    }
  });
}
