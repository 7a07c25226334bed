/** Time limits for waits. */
import { gauge, observe } from '../../platform/observe/metrics/index.js';
import { requestProtocol } from '../metrics/requests.js';

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

let open = 0;
gauge('longhaul_waits_open', () => [[{}, open]]);

/** Measures a wait of the current request. @param hasRunOut whether the budget ended or the client left before the wait did */
export async function measureWait<T>(wait: () => Promise<T>, hasRunOut: () => boolean): Promise<T> {
  const protocol = requestProtocol();
  const startedMs = performance.now();
  open += 1;
  let end = 'error';
  try {
    const result = await wait();
    end = hasRunOut() ? 'budget' : 'answer';
    return result;
  } finally {
    open -= 1;
    observe('longhaul_wait_seconds', { protocol, end }, (performance.now() - startedMs) / 1_000);
  }
}
