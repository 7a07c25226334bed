import { setTimeout as delay } from 'node:timers/promises';
import { cancellationSignal, report } from 'longhaul/activity';

/** Between two units, in milliseconds: several of them fit between two polls. */
const UNIT_MS = 25;

export async function count(units: number): Promise<void> {
  const signal = cancellationSignal();
  for (let unit = 1; unit <= units; unit += 1) {
    await delay(UNIT_MS, undefined, { signal });
    report({ progress: unit, total: units });
  }
}
