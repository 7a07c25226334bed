/** Cancels at the last moment: while the work cleans up, and as it ends. */
import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { cancelOperation } from '../../engine/end/cancelling.js';
import { ANONYMOUS } from '../../operations/wire/index.js';
import { eventually } from '../stack/cli-process.js';
import { connectEngine } from '../support/engine.js';
import { afterThisTest, forAllTests } from '../support/for-all-tests.js';
import { protocolClients, untilOver } from '../support/protocols/index.js';
import { TestStack } from '../support/test-stack.js';

const stack = await forAllTests(TestStack.shared());

test('a cancel that is accepted while failed work cleans up is final, on every protocol', async () => {
  const clients = protocolClients(stack.base);
  const jobs = clients.at(-1)!;
  const args = { units: 0, questions: 0, areAtOnce: false, ends: 'failed', cleanupMs: 5_000 };
  const token = await jobs.start('steered', args, randomUUID());
  const handle = (await stack.temporal()).workflow.getHandle(token);
  await eventually('the cleanup has begun', async () => {
    const { events } = await handle.fetchHistory();
    return events?.some((event) => event.timerStartedEventAttributes);
  });
  expect(await jobs.cancel(token)).toBe(true);
  for (const client of clients) {
    const reading = await untilOver(client, token);
    expect([client.name, reading.states]).toEqual([client.name, expect.arrayContaining(['canceled'])]);
  }
  expect((await jobs.read(token))?.states).toEqual(['canceled']);
});

test('a cancel of work that ends between the read and the request is not confirmed', async () => {
  const jobs = protocolClients(stack.base).at(-1)!;
  const args = { units: 0, questions: 0, areAtOnce: false, ends: 'completed', cleanupMs: 0 };
  const token = await jobs.start('steered', args, randomUUID());
  await untilOver(jobs, token);
  const engine = await connectEngine(stack.taskQueue);
  afterThisTest(() => engine.temporal.close());

  const closed = await engine.read(ANONYMOUS, token);
  expect(closed.status).toBe('completed');
  // The first as read just before the end.
  const readings = [{ ...closed, status: 'working' as const }, closed];
  const read = () => Promise.resolve(readings.shift()!);
  const operation = { temporal: engine.temporal, workflowId: token, read };
  expect(await cancelOperation(operation, undefined, () => undefined)).toBe(false);
  expect(readings).toEqual([]);
});
