/** The published maximum duration, as a timer that stands still while only people are awaited. */
import { condition, sleep } from '@temporalio/workflow';
import { marker, onlyPeopleAwaited, setAwaited, state } from './state.js';

/** Since when the time has been running, as epoch milliseconds; undefined while it stands still. */
let runningSince: number | undefined;

/** Writes down how much time is left: also before the workflow continues as new, in the middle of the wait. */
export function saveRemaining(): void {
  if (runningSince === undefined) return;
  const now = Date.now();
  state().deadlineRemainingMs = remainingMs() - (now - runningSince);
  runningSince = now;
}

export function isTimeUp(): boolean {
  return remainingMs() <= 0;
}

function remainingMs(): number {
  return state().deadlineRemainingMs ?? (marker()?.deadlineSeconds ?? 0) * 1000;
}

/**
 * Waits until the time is up, then calls `expire`, then gives the work a grace time to stop.
 *
 * @returns when the grace time is over
 */
export async function runDeadline(graceMs: number, expire: () => void): Promise<void> {
  for (;;) {
    runningSince = Date.now();
    const isPaused = await condition(onlyPeopleAwaited, Math.max(1, remainingMs()), { summary: 'deadline' });
    saveRemaining();
    runningSince = undefined;
    if (!isPaused) break;
    setAwaited(true);
    await condition(() => !onlyPeopleAwaited());
    setAwaited(false);
  }
  expire();
  await sleep(graceMs);
}
