/** Retries of work on a full disk. */
import { setTimeout as delay } from 'node:timers/promises';
import { isDiskFullError } from '../../platform/disk.js';

/** Lines for people as a wait begins, and as it ends well. */
export const DISK_FULL = 'waiting for room: the disk is full';
export const DISK_FREE = 'there is room on the disk again';

/** Pause between attempts, in milliseconds. */
const RETRY_MS = 1_000;

export interface DiskWait {
  /** Ends the wait. */
  signal?: AbortSignal | undefined;
  /** Maximum wait, in milliseconds. Default: until the signal fires. */
  limitMs?: number;
  /** Gets a line for people, as the wait begins and as it ends well. */
  onWait?: ((line: string) => void) | undefined;
}

/**
 * Repeats work while it fails because the disk is full. The work has to be repeatable.
 *
 * @throws other errors of the work; its last error about the full disk once the wait has ended
 */
export async function retryWhileDiskIsFull<T>(
  work: () => Promise<T>,
  { signal, limitMs = Infinity, onWait }: DiskWait = {},
): Promise<T> {
  const began = performance.now();
  for (let attempt = 1; ; attempt += 1) {
    try {
      const result = await work();
      if (attempt > 1) onWait?.(DISK_FREE);
      return result;
    } catch (error) {
      if (!isDiskFullError(error) || signal?.aborted || performance.now() - began >= limitMs) throw error;
      if (attempt === 1) onWait?.(DISK_FULL);
    }
    await delay(RETRY_MS, undefined, signal ? { signal } : {}).catch(() => undefined);
  }
}
