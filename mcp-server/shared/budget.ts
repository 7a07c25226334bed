/** Time limits for waits. */
import { measureWait } from '../metrics/waits.js';

/**
 * Runs `wait` with a signal that fires after `seconds`, or with the caller's. Uses its own timer: Node 20 may garbage-collect
 * AbortSignal.timeout() within AbortSignal.any() before it fires.
 */
export async function withBudget<T>(
  seconds: number,
  caller: AbortSignal,
  wait: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const budget = new AbortController();
  const timer = setTimeout(() => budget.abort(), seconds * 1000);
  try {
    return await measureWait(
      () => wait(AbortSignal.any([budget.signal, caller])),
      () => budget.signal.aborted || caller.aborted,
    );
  } finally {
    clearTimeout(timer);
  }
}
