/** Time limits for waits. */
import { measureWait } from '../metrics/waits.js';

/**
 * Runs `wait` with a signal that fires after `seconds`, or when the caller's does. Uses its own timer, since
 * AbortSignal.timeout() within AbortSignal.any() may be garbage-collected before it fires (Node 20).
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
