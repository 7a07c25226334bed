/** Waits for an absent host, on any other host. */
import { setTimeout as delay } from 'node:timers/promises';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { humanDuration } from '../../operations/budgets.js';
import type { AwaitHost, HostPresence } from '../../pipelines/run.js';

/** Pause between two checks, in milliseconds. */
const LOOK_INTERVAL_MS = 5_000;

export interface HostWatch {
  /** Time of the last poll of a worker of the host; undefined if Temporal doesn't know. */
  lastSeen(): Promise<Date | undefined>;
  /** Absence after which the host counts as lost, in milliseconds, unless the wait has a limit of its own. */
  absenceLimitMs: number;
  /** Current time on Temporal's clock, in epoch milliseconds. */
  now(): number;
  signal: AbortSignal;
  /** Fires when this worker stops: another one waits on. */
  stopping: AbortSignal;
  onWait(line: string): void;
}

/**
 * Waits until a worker of the host polls, or until the limit of the absence or of the wait.
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
