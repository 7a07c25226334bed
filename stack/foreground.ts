/** Running one part of the stack in the foreground of a terminal, of a service manager, or of `longhaul up`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { shutdownRequests } from './signals.js';

const DRAIN_LIMIT_MS = 10_000;
/** Sent to the supervisor over the channel of `child_process`, if there is one, once the part works. */
export const READY_MESSAGE = 'ready';

export interface ForegroundPart {
  /** Ends it in good order. */
  stop(): Promise<void>;
  /** Resolves or fails when it ends by itself; a part that doesn't has none. */
  done?: Promise<unknown>;
}

/**
 * Runs a part until it is asked to end, then gives it 10 s.
 *
 * @returns the exit code: 0 after an orderly end, 1 when time ran out, 130 when somebody insisted
 * @throws what the part's start or its own end failed with
 */
export async function runInForeground(start: () => Promise<ForegroundPart>): Promise<number> {
  const requests = shutdownRequests();
  const part = await Promise.race([start(), requests.first]);
  if (!part) return 0;
  process.send?.(READY_MESSAGE, () => undefined);
  const done = part.done ?? new Promise<never>(() => undefined);
  const early = await Promise.race([requests.first.then(() => 'asked'), done.then(() => 'ended')]);
  if (early === 'ended') return 1;
  return Promise.race([
    part.stop().then(() => 0),
    sleep(DRAIN_LIMIT_MS, 1, { ref: false }),
    requests.second.then(() => 130),
  ]);
}
