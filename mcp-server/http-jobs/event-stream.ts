/**
 * Server-sent events as a response body with backpressure: events are pulled only as fast as the client reads, so a slow
 * reader costs one buffered event. A reader that takes nothing for a while is disconnected and can reconnect.
 */
import { withTimeout } from '../../platform/with-timeout.js';
import { HEARTBEAT_MS } from '../lifecycle/heartbeat.js';

/** How long a reader may leave an event unread before it is disconnected, in milliseconds. */
export const SLOW_READER_MS = 20_000;
/** Reconnection time sent to clients (SSE's `retry`), in milliseconds. */
const RETRY_MS = 1_000;

export interface ServerSentEvent {
  /** Position after the event; missing for events that are not replayed. */
  id?: string;
  event: string;
  data: unknown;
}

export interface StreamTimes {
  heartbeatMs: number;
  slowReaderMs: number;
}

/**
 * @param events returned early when the reader disconnects or is disconnected
 * @param onEnd called once the stream has ended for any reason
 */
export function eventStream(
  events: AsyncGenerator<ServerSentEvent>,
  onEnd: () => void,
  { heartbeatMs, slowReaderMs }: StreamTimes = {
    heartbeatMs: HEARTBEAT_MS,
    slowReaderMs: SLOW_READER_MS,
  },
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  // Sent at once, so that clients and proxies see an open stream.
  let first: string | undefined = `retry: ${RETRY_MS}\n: open\n\n`;
  let coming: Promise<IteratorResult<ServerSentEvent>> | undefined;
  let cutOff: NodeJS.Timeout | undefined;
  const end = () => {
    clearTimeout(cutOff);
    onEnd();
  };
  const chunk = async (): Promise<string | undefined> => {
    if (first !== undefined) {
      const text = first;
      first = undefined;
      return text;
    }
    coming ??= events.next();
    const next = await withTimeout(coming, heartbeatMs);
    if (!next) return ': heartbeat\n\n';
    coming = undefined;
    return next.done ? undefined : textOf(next.value);
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        clearTimeout(cutOff);
        let text: string | undefined;
        try {
          text = await chunk();
        } catch (error) {
          end();
          throw error;
        }
        if (text === undefined) {
          end();
          controller.close();
          return;
        }
        controller.enqueue(encoder.encode(text));
        cutOff = setTimeout(() => {
          end();
          controller.error(new Error('the reader of an event stream is not reading'));
        }, slowReaderMs);
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
}

function textOf({ id, event, data }: ServerSentEvent): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
