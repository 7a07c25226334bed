import PQueue from 'p-queue';

const CONCURRENCY = 8;

/** Runs `work` for each item with limited concurrency. Rejects with the first error. */
export async function forEachConcurrently<T>(list: T[], work: (item: T) => Promise<void>): Promise<void> {
  await new PQueue({ concurrency: CONCURRENCY }).addAll(list.map((item) => () => work(item)));
}
