/** Waits for a worker of a build. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { isPolling, pollersOf } from '../../platform/host-presence.js';

const LOOK_INTERVAL_MS = 500;

/** Waits until a worker of a build polls the task queue. @throws the signal's reason */
export async function waitForWorker(
  client: Client,
  taskQueue: string,
  buildId: string,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const pollers = await pollersOf(client, taskQueue, 'workflows');
    if (pollers.some((poller) => poller.buildId === buildId && isPolling(poller))) return;
    await delay(LOOK_INTERVAL_MS, undefined, { signal, ref: true }).catch(() => undefined);
  }
}
