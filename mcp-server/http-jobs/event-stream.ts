/**
 * Server-sent events as a body that is made only as fast as it is read: what the reader hasn't taken isn't asked for, so
 * that a slow one costs a piece of text and no more. One that takes nothing for a while is cut off; it can come back.
 */
import { withTimeout } from '../shared/budget.js';
import { HEARTBEAT_MS } from '../lifecycle/heartbeat.js';

/** How long a reader may leave what is there untaken before it is cut off, in milliseconds. */
export const SLOW_READER_MS = 20_000;
/** When a client is to come back after the stream was cut, in milliseconds. */
const RETRY_MS = 1_000;

export interface ServerSentEvent {
  /** Position behind it; none for what is never told again. */
  id?: string;
  event: string;
  data: unknown;
}

export interface StreamTimes {
  heartbeatMs: number;
  slowReaderMs: number;
}

/**
 * @param events ended early when the reader goes away, or is cut off
 * @param onEnd the stream is over, in whichever way
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
  // At once, so that clients and proxies see that the stream is there.
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
          controller.error(new Error('the reader of a stream of events takes nothing'));
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
