/** Background tasks of a process. */
import type { Logger } from './observe/log.js';

/** Runs a task now and at an interval, also after failures such as an unreachable Temporal. @returns function that ends it */
export function every(intervalMs: number, logger: Logger, task: () => Promise<void>): () => void {
  let isEnded = false;
  let timer: NodeJS.Timeout | undefined;
  const run = async () => {
    await task().catch((error: unknown) => logger.debug({ err: error }, 'a background task failed'));
    if (!isEnded) timer = setTimeout(() => void run(), intervalMs);
  };
  void run();
  return () => {
    isEnded = true;
    clearTimeout(timer);
  };
}
