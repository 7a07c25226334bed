/** Retries work while the disk is full or storage is down. */
import { setTimeout as delay } from 'node:timers/promises';
import { isStorageWait, storageErrorIn } from '../../platform/storage/index.js';

/** Lines for people when a wait for room begins, and when it ends well. */
export const DISK_FULL = 'waiting for room: the disk is full';
export const DISK_FREE = 'there is room on the disk again';
/** The same for the end of a wait for a store. */
const STORED = 'storage takes data again';

const RETRY_MS = 1_000;

export interface StorageWait {
  signal?: AbortSignal | undefined;
  /** Maximum wait, in milliseconds. Default: until the signal fires. */
  limitMs?: number;
  /** Gets a line for people when the wait begins, and when it ends well. */
  onWait?: ((line: string) => void) | undefined;
}

/**
 * Repeats work while it fails because the disk is full, or because the store is down, slow, full or refuses: an operator can
 * change all of that. The work must be repeatable.
 *
 * @throws other errors of the work; its last error about storage once the wait has ended
 */
export async function awaitStorage<T>(
  work: () => Promise<T>,
  { signal, limitMs = Infinity, onWait }: StorageWait = {},
): Promise<T> {
  const began = performance.now();
  let waited: unknown;
  for (;;) {
    try {
      const result = await work();
      if (waited) onWait?.(storageErrorIn(waited) ? STORED : DISK_FREE);
      return result;
    } catch (error) {
      if (!isStorageWait(error) || signal?.aborted || performance.now() - began >= limitMs) throw error;
      if (!waited) onWait?.(waitMessage(error));
      waited = error;
    }
    await delay(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
}

export function waitMessage(error: unknown): string {
  const trouble = storageErrorIn(error);
  return trouble ? `waiting for ${trouble.message}` : DISK_FULL;
}
