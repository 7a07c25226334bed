import PQueue from 'p-queue';

const CONCURRENCY = 8;

/** Results of `work` for each item, in order, with limited concurrency. Rejects with the first error. */
export function mapConcurrently<T, R>(list: T[], work: (item: T) => Promise<R>): Promise<R[]> {
  return new PQueue({ concurrency: CONCURRENCY }).addAll(list.map((item) => () => work(item)));
}
