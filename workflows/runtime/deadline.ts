/**
 * An operation's maximum duration. It excludes time in which only people are awaited, and time between an operator's reset and
 * the point that it resets to.
 */
import { condition, sleep } from '@temporalio/workflow';
import { defined } from '../../operations/json/defined.js';
import { randomSource } from './internal/random-source.js';
import { hasEnded, onlyPeopleAwaited, startMemo, state } from './state.js';

/** End of the counted time, in epoch milliseconds. */
let countedUntil: number | undefined;
let isPaused = false;
/** Remaining time for the work, in milliseconds; may be negative. */
let remainingMs = 0;

/** Random generator at the last check: a reset replaces it. */
let random: unknown;

/** Whether an operator has reset the workflow since the last call. Replays give the same answers. */
function isReset(): boolean {
  const before = random;
  random = randomSource();
  return before !== undefined && before !== random;
}

export function startClock(): void {
  remainingMs = state().deadlineRemainingMs ?? (startMemo()?.deadlineSeconds ?? 0) * 1000;
  // The wait for a turn doesn't count.
  countedUntil = undefined;
  countTime();
}

/** Counts the time since the last call, as work or as a wait for people. Call it at the end of each activation. */
export function countTime(): void {
  const now = Date.now();
  const passedMs = isReset() ? 0 : now - (countedUntil ?? now);
  countedUntil = now;
  if (isPaused) state().awaitedMs = (state().awaitedMs ?? 0) + passedMs;
  else remainingMs -= passedMs;
  isPaused = onlyPeopleAwaited();
}

/** Saves the remaining time in the state, for the run that continues this one. */
export function saveRemainingTime(): void {
  countTime();
  const { awaitedMs } = state();
  Object.assign(state(), { deadlineRemainingMs: remainingMs, ...defined({ awaitedBeforeMs: awaitedMs }) });
}

export function isTimeUp(): boolean {
  countTime();
  return remainingMs <= 0;
}

/**
 * Calls `expire` once the time is up, and `giveUp` if the work doesn't stop within the grace time. No timer starts while only
 * people are awaited. A timer that already runs isn't cancelled: another one follows once people have answered.
 */
export async function runDeadline(graceMs: number, expire: () => void, giveUp: () => void): Promise<void> {
  while (!isTimeUp()) {
    if (onlyPeopleAwaited()) {
      await condition(() => !onlyPeopleAwaited());
      // An answer may complete the workflow, which then needs no timer.
      await otherWork();
      if (hasEnded()) return;
    } else await sleep(remainingMs, { summary: 'deadline' });
  }
  expire();
  await sleep(graceMs);
  giveUp();
}

/** Resolves once all other code that can run now has run, because the SDK checks conditions after that. */
async function otherWork(): Promise<void> {
  let isChecked = false;
  const done = condition(() => isChecked);
  isChecked = true;
  await done;
}
