/** How often whatever is quiet says that it is alive, in milliseconds. */
export const HEARTBEAT_MS = 15_000;

const listeners = new Set<() => void>();
let timer: NodeJS.Timeout | undefined;

/**
 * Calls the listener every {@link HEARTBEAT_MS}. One timer serves all of a process; while nobody listens there is none.
 *
 * @returns ends it
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
