/** Whether a lease still holds. Once it has ended, its message is queued again. Older workers don't tell the end. */
export function isLive({ leaseUntil = Infinity }: { leaseUntil?: number }): boolean {
  return leaseUntil > Date.now();
}
