import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TestStack } from '../support/test-stack.js';

let parts: TestStack;
beforeAll(async () => {
  parts = await TestStack.start();
});
afterAll(() => parts?.stop());

test('five minutes of work with a report each second add no event to the history', async () => {
  const { client } = parts;
  const temporal = await parts.temporal();
  const eventsOf = async (taskId: string) =>
    (await temporal.workflow.getHandle(taskId).fetchHistory()).events!.length;
  const long = await client.start('slow_compute', { seconds: 300 });
  const short = await client.start('slow_compute', { seconds: 2 });
  await client.until(short, 'completed');
  const seen = new Set<number>();
  await client.until(
    long,
    (task) => {
      seen.add(Math.floor(task._meta?.['longhaul/progress']?.progress ?? 0));
      return task.status === 'completed';
    },
    400_000,
  );
  expect(seen.size).toBeGreaterThan(250);
  expect(await eventsOf(long)).toBe(await eventsOf(short));
}, 450_000);
