/** Limits on how long something is awaited. */

/**
 * Runs what waits: its signal fires when the time is over, or the caller's does. A timer of our own, for
 * AbortSignal.timeout() within AbortSignal.any() may be collected as garbage before it fires (Node 20).
 */
export async function withBudget<T>(
  seconds: number,
  caller: AbortSignal,
  wait: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const budget = new AbortController();
  const timer = setTimeout(() => budget.abort(), seconds * 1000);
  try {
    return await wait(AbortSignal.any([budget.signal, caller]));
  } finally {
    clearTimeout(timer);
  }
}

/** What is awaited, or undefined when it takes longer. */
export async function withTimeout<T>(awaited: Promise<T>, limitMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const nothing = new Promise<undefined>(
    (resolve) => (timer = setTimeout(() => resolve(undefined), limitMs)),
  );
  try {
    return await Promise.race([awaited, nothing]);
  } finally {
    clearTimeout(timer);
  }
}
