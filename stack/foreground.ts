/** Runs one part of the stack in the foreground of a terminal, a service manager or `longhaul up`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { shutdownRequests } from './signals.js';

const STOP_LIMIT_MS = 10_000;
/** IPC message to the supervisor: the part is ready. */
export const READY_MESSAGE = 'ready';

export interface ForegroundPart {
  stop(): Promise<void>;
  /** Limit of a graceful stop, in milliseconds. Default: 10 s. */
  stopLimitMs?: number;
  /** Settles when the part ends by itself; undefined if it never does. */
  done?: Promise<unknown>;
}

/**
 * Runs a part until a shutdown request, then stops it within its time limit.
 *
 * @returns the exit code: 0 after a graceful stop, 1 after the time limit, 130 after a second request
 * @throws the error with which the part failed to start, or ended
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
    sleep(part.stopLimitMs ?? STOP_LIMIT_MS, 1, { ref: false }),
    requests.second.then(() => 130),
  ]);
}
