/**
 * Makes a read whose outcome serves further readers for a while, also those that come while it is under way.
 *
 * @param freshMs how long the outcome counts, from the begin of its read, in milliseconds
 */
export function freshFor<T>(freshMs: number, read: () => Promise<T>): () => Promise<T> {
  let latest: { outcome: Promise<T>; atMs: number } | undefined;
  return () => {
    if (!latest || performance.now() - latest.atMs > freshMs)
      latest = { outcome: read(), atMs: performance.now() };
    return latest.outcome;
  };
}
