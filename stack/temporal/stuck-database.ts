/**
 * Detects a stuck database connection. The SQLite driver of Temporal server 1.29 has one connection, and a call abandoned at the
 * wrong moment can leave it interrupted: every call fails with `interrupted (9)` until a restart. Newer servers have a fixed
 * driver (temporalio/temporal#9198).
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

const INTERVAL_MS = 2_000;
/** Consecutive checks that must find failures: calls abandoned under load leave single ones. */
const LOOKS = 5;
/** Failures between two checks that count. */
const FAILURES = 3;
const FAILURE = 'interrupted (9)';

export interface StuckDatabaseOptions {
  log: string;
  /** Byte offset in the log where this Temporal's lines begin. */
  from: number;
  signal: AbortSignal;
  /** Interval between checks, in milliseconds. Default: 2 s. */
  intervalMs?: number;
}

/** Resolves with true once Temporal's log shows a stuck connection, or with false when the signal aborts first. */
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
    // The next check reads it again.
  }
  return count;
}
