/** Timer for an operation's maximum duration; paused while only people are awaited. */
import { condition, sleep } from '@temporalio/workflow';
import { isClosed, startMemo, onlyPeopleAwaited, otherWork, setOnlyPeopleAwaited, state } from './state.js';

/** Start of the running period, as epoch milliseconds; undefined while paused. */
let runningSince: number | undefined;

/** Saves the remaining time in the state; called at the end of a period and before the workflow continues as new. */
export function saveRemainingTime(): void {
  if (runningSince === undefined) return;
  const now = Date.now();
  state().deadlineRemainingMs = remainingMs() - (now - runningSince);
  runningSince = now;
}

export function isTimeUp(): boolean {
  return remainingMs() <= 0;
}

function remainingMs(): number {
  return state().deadlineRemainingMs ?? (startMemo()?.deadlineSeconds ?? 0) * 1000;
}

/**
 * Waits until the time is up, then calls `expire`, then gives the work a grace time to stop.
 *
 * @returns when the grace time is over, or the workflow has closed
 */
export async function runDeadline(graceMs: number, expire: () => void): Promise<void> {
  for (;;) {
    runningSince = Date.now();
    const isPaused = await condition(onlyPeopleAwaited, Math.max(1, remainingMs()), { summary: 'deadline' });
    saveRemainingTime();
    runningSince = undefined;
    if (!isPaused) break;
    setOnlyPeopleAwaited(true);
    await condition(() => !onlyPeopleAwaited());
    setOnlyPeopleAwaited(false);
    // An answer may complete the workflow, which then needs no timer.
    await otherWork();
    if (isClosed()) return;
  }
  expire();
  await sleep(graceMs);
}
