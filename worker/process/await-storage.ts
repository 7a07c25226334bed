/** The worker's wait for its storage. */
import { setTimeout as delay } from 'node:timers/promises';
import { withJitter } from '../../platform/jitter.js';
import type { Logger } from '../../platform/observe/log.js';
import {
  storageErrorIn,
  storageName,
  verifyStorage,
  type Storage,
  type StorageChoice,
} from '../../platform/storage/index.js';

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

/**
 * Waits until the store answers.
 *
 * @returns the storage's ID; undefined for a folder that can't be written at present, e.g. on a full disk
 * @throws StorageError when somebody has to change settings, permissions or the store first
 */
export async function awaitUsableStorage(
  storage: Storage,
  settings: StorageChoice,
  logger: Logger,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      return await verifyStorage(storage, storageName(settings));
    } catch (error) {
      const trouble = storageErrorIn(error);
      if (!trouble) {
        logger.warn({ err: error }, "storage can't be written");
        return undefined;
      }
      if (!trouble.retryable || signal.aborted) throw error;
      if (pauseMs === FIRST_PAUSE_MS) logger.warn(`${trouble.message}; the worker starts once it answers`);
    }
    await delay(withJitter(pauseMs), undefined, { signal });
  }
}
