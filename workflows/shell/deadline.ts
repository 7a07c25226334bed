/** The published maximum duration, as a timer that stands still while only people are awaited. */
import { condition, sleep } from '@temporalio/workflow';
import { marker, onlyPeopleAwaited, state } from './state.js';

/**
 * Waits until the time is up, then calls `expire`, then gives the work a grace time to stop.
 *
 * @returns when the grace time is over
 */
export async function runDeadline(graceMs: number, expire: () => void): Promise<void> {
  let remainingMs = state().deadlineRemainingMs ?? (marker()?.deadlineSeconds ?? 0) * 1000;
  for (;;) {
    const since = Date.now();
    const isPaused = await condition(onlyPeopleAwaited, Math.max(1, remainingMs), { summary: 'deadline' });
    remainingMs -= Date.now() - since;
    state().deadlineRemainingMs = remainingMs;
    if (!isPaused) break;
    const pausedAt = Date.now();
    await condition(() => !onlyPeopleAwaited());
    state().awaitedMs = (state().awaitedMs ?? 0) + Date.now() - pausedAt;
  }
  expire();
  await sleep(graceMs);
}
