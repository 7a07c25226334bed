/** Checks of `queue`. */
import type { Report } from '../problems.js';
import { at } from '../values.js';

export function checkQueue(file: unknown, report: Report): void {
  const queue = at(file, 'queue');
  const [concurrency, perCaller] = [at(queue, 'concurrency'), at(queue, 'per-caller')];
  if (typeof concurrency === 'number' && typeof perCaller === 'number' && perCaller > concurrency)
    report(['queue', 'per-caller'], `expected at most concurrency, ${concurrency}; got ${perCaller}`);
}
