/** Waits for an absent host, on any other host. */
import { setTimeout as delay } from 'node:timers/promises';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { humanDuration } from '../../operations/budgets.js';
import type { AwaitHost, HostPresence } from '../../pipelines/run.js';

const LOOK_INTERVAL_MS = 5_000;

export interface HostWatch {
  /** When one of the host's workers last polled; undefined if Temporal doesn't know. */
  lastSeen(): Promise<Date | undefined>;
  /** Absence after which the host counts as lost, in milliseconds. A wait's own limit overrides it. */
  absenceLimitMs: number;
  /** Temporal's time in epoch milliseconds. */
  now(): number;
  signal: AbortSignal;
  /** Fires when this worker stops: another one waits on. */
  stopping: AbortSignal;
  onWait(line: string): void;
}

/**
 * Waits until a worker of the host polls, or until the absence or the wait reaches its limit.
 *
 * @throws errors of `lastSeen`, and the signal's reason; ApplicationFailure, retryable, when this worker stops
 */
export async function awaitHost(
  { host, since, limitMs }: AwaitHost,
  watch: HostWatch,
): Promise<HostPresence> {
  const beganAt = new Date(since);
  for (;;) {
    if (watch.stopping.aborted)
      throw ApplicationFailure.create({
        message: 'the worker stops',
        category: ApplicationFailureCategory.BENIGN,
      });
    const seen = await watch.lastSeen();
    const lastSeenAt = (seen ?? beganAt).toISOString();
    if (seen && seen > beganAt) return { isBack: true, lastSeenAt };
    const absentMs = watch.now() - (seen ?? beganAt).getTime();
    const isLost =
      limitMs === undefined ? absentMs >= watch.absenceLimitMs : watch.now() - beganAt.getTime() >= limitMs;
    if (isLost) return { isBack: false, lastSeenAt };
    watch.onWait(`host ${host} has not answered for ${humanDuration(Math.max(1, absentMs / 1000))}`);
    await delay(LOOK_INTERVAL_MS, undefined, { signal: watch.signal });
  }
}
