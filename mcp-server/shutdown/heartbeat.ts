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
