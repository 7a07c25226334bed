/** How often a watcher's progress is read. */
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { TemporalClient } from '../../engine/temporal/client.js';
import { Watches } from '../../engine/watch/index.js';
import type { OperationRecord } from '../../operations/record.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** A history that gets no event. */
const quiet = {
  maxHistoryPolls: 1,
  namespace: 'default',
  client: { connection: { withDeadline: () => new Promise(() => undefined) } },
} as unknown as TemporalClient;

test('progress is read each second while it changes, and less and less often while it does not', async () => {
  const record = { token: 'job', status: 'working', inputRequests: {} } as unknown as OperationRecord;
  let done = 0;
  let isMoving = true;
  let reads = 0;
  const read = () => {
    reads += 1;
    if (isMoving) done += 1;
    return Promise.resolve({ ...record, progress: { progress: done } });
  };
  const end = new AbortController();
  const seen: number[] = [];
  const watching = (async () => {
    const options = { signal: end.signal, progress: true };
    for await (const { progress } of new Watches(quiet).watch('job', read, options))
      seen.push(progress!.progress);
  })();
  await jest.advanceTimersByTimeAsync(10_500);
  expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  isMoving = false;
  reads = 0;
  await jest.advanceTimersByTimeAsync(60_000);
  expect(seen).toHaveLength(11);
  // 1 s at first, 5 s in the end.
  expect(reads).toBeLessThan(20);
  isMoving = true;
  await jest.advanceTimersByTimeAsync(5_000);
  const after = seen.length;
  await jest.advanceTimersByTimeAsync(5_000);
  expect(seen.length - after).toBe(5);
  end.abort();
  await jest.advanceTimersByTimeAsync(10_000);
  await watching;
});
