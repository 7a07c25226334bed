/** Makes a read that shares its outcome with other readers for `freshMs`, measured from the start of the read. */
export function freshFor<T>(freshMs: number, read: () => Promise<T>): () => Promise<T> {
  let latest: { outcome: Promise<T>; atMs: number } | undefined;
  return () => {
    if (!latest || performance.now() - latest.atMs > freshMs)
      latest = { outcome: read(), atMs: performance.now() };
    return latest.outcome;
  };
}
