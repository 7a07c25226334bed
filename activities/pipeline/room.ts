/** Waiting on a full disk: what a host can't write is tried again until there is room. */
import { setTimeout as delay } from 'node:timers/promises';
import { isDiskFullError } from '../../platform/disk.js';

/** Pause between attempts, in milliseconds. */
const RETRY_MS = 1_000;

export interface RoomWait {
  /** Ends the wait. */
  signal?: AbortSignal | undefined;
  /** For how long it is tried, in milliseconds. Default: until the signal fires. */
  limitMs?: number;
  /** Gets a line for people, as the wait begins and as it ends well. */
  onWait?: ((line: string) => void) | undefined;
}

/**
 * Does work, again and again while it fails for lack of room on the disk. What it does has to be repeatable.
 *
 * @throws what the work throws otherwise; its last error for lack of room once the wait has ended
 */
export async function onceThereIsRoom<T>(
  work: () => Promise<T>,
  { signal, limitMs = Infinity, onWait }: RoomWait = {},
): Promise<T> {
  const began = performance.now();
  for (let attempt = 1; ; attempt += 1) {
    try {
      const result = await work();
      if (attempt > 1) onWait?.('there is room on the disk again');
      return result;
    } catch (error) {
      if (!isDiskFullError(error) || signal?.aborted || performance.now() - began >= limitMs) throw error;
      if (attempt === 1) onWait?.('waiting for room: the disk is full');
    }
    await delay(RETRY_MS, undefined, signal ? { signal } : {}).catch(() => undefined);
  }
}
