import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { protocolClients } from '../support/protocols/index.js';
import { TestStack } from '../support/test-stack.js';
import { PROJECT } from './property.js';

let stack: TestStack;
beforeAll(async () => {
  stack = await TestStack.start(PROJECT);
});
afterAll(() => stack?.stop());

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
    const reading = await eventually(`${client.name} shows its end`, async () => {
      const last = await client.read(token);
      return last?.isOver ? last : undefined;
    });
    expect([client.name, reading.states]).toEqual([client.name, expect.arrayContaining(['canceled'])]);
  }
  const closed = await eventually('it is closed', async () => {
    const last = await jobs.read(token);
    return last?.isOver ? last : undefined;
  });
  expect(closed.states).toEqual(['canceled']);
});
