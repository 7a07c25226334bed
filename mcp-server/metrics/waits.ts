/** Metrics of calls that wait for an operation. */
import { gauge, observe } from '../../platform/metrics/index.js';
import { requestProtocol } from './requests.js';

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
