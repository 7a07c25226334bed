/** Maximum concurrent calls to Temporal of one request. */
const CONCURRENCY = 8;

/** Runs an asynchronous function for each item, with limited concurrency; rejects with the first error. */
export async function forEachConcurrently<T>(list: T[], work: (item: T) => Promise<void>): Promise<void> {
  const items = list.values();
  const run = async () => {
    for (const item of items) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, list.length) }, run));
}
