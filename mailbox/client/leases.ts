/**
 * Whether a lease still holds. Once it has ended, its message is queued again. Older workers don't tell the end.
 *
 * @param nowMs Temporal's time, in epoch milliseconds
 */
export function isLive({ leaseUntil = Infinity }: { leaseUntil?: number }, nowMs: number): boolean {
  return leaseUntil > nowMs;
}
