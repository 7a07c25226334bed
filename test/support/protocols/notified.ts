/** Waits by subscriptions/listen of 2026-07-28. */
import { setTimeout as delay } from 'node:timers/promises';
import type { WireClient } from '../mcp.js';

/** Between two looks at the messages that have come, in milliseconds. */
const LOOK_MS = 20;

/** Until a message fits, the stream ends, or the time has passed. @throws the signal's reason */
export async function untilNotified(
  listen: () => ReturnType<WireClient['listen']>,
  isDone: (message: any) => boolean,
  seconds: number,
  signal?: AbortSignal,
): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  const stream = await listen();
  try {
    let hasEnded = false;
    void stream.ended.then(() => (hasEnded = true));
    while (!stream.messages.some(isDone) && !hasEnded && Date.now() < deadline) {
      signal?.throwIfAborted();
      await delay(LOOK_MS);
    }
  } finally {
    stream.close();
  }
}
