/**
 * Notices a Temporal whose database connection is stuck. The SQLite driver of Temporal's server 1.29 has a single connection, and a
 * call that is given up at the wrong moment may leave it interrupted for good: from then on everything fails with `interrupted (9)`
 * until Temporal is started again. Newer servers have a driver without the defect (temporalio/temporal#9198).
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

const INTERVAL_MS = 2_000;
/** Number of looks in a row that find failures: calls that are given up under load leave single ones. */
const LOOKS = 5;
/** Number of failures between two looks. */
const FAILURES = 3;
const FAILURE = 'interrupted (9)';

export interface StuckDatabaseOptions {
  /** Path of Temporal's log. */
  log: string;
  /** Position in the log at which this Temporal's lines begin, in bytes. */
  from: number;
  /** Ends the watch. */
  signal: AbortSignal;
  /** Between two looks, in milliseconds. Default: 2 s. */
  intervalMs?: number;
}

/** Resolves once Temporal's log shows that its database connection is stuck, with true; with false when the watch has ended before. */
export async function isDatabaseStuck({
  log,
  from,
  signal,
  intervalMs = INTERVAL_MS,
}: StuckDatabaseOptions): Promise<boolean> {
  let at = from;
  for (let looks = 0; looks < LOOKS;) {
    await delay(intervalMs, undefined, { signal, ref: false }).catch(() => undefined);
    if (signal.aborted) return false;
    const size = (await stat(log).catch(() => undefined))?.size ?? 0;
    // The log was rotated.
    if (size < at) at = 0;
    looks = (await failuresIn(log, at, size)) >= FAILURES ? looks + 1 : 0;
    at = size;
  }
  return true;
}

async function failuresIn(log: string, from: number, end: number): Promise<number> {
  if (end <= from) return 0;
  let count = 0;
  try {
    const input = createReadStream(log, { start: from, end: end - 1 });
    for await (const line of createInterface({ input })) if (line.includes(FAILURE)) count += 1;
  } catch {
    // It is read again at the next look.
  }
  return count;
}
