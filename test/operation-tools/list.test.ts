/** operation_list, and the tools about operations in tools/list. */
import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { forged } from '../support/forged.js';
import { TestStack } from '../support/test-stack.js';
import { Caller, textOf } from './support.js';

const parts = await forAllTests(TestStack.shared());
const caller = new Caller(parts.client);

test('are listed behind the long tools, and say truly what they do', async () => {
  const tools = await caller.tools();
  const own = tools.filter(({ name }) => name.startsWith('operation_'));
  expect(tools.slice(-own.length)).toEqual(own);
  expect(Object.fromEntries(own.map(({ name, annotations }) => [name, annotations]))).toMatchObject({
    operation_get: { readOnlyHint: true },
    operation_list: { readOnlyHint: true },
    operation_answer: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
    operation_cancel: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    operation_resume: { readOnlyHint: false, idempotentHint: true },
  });
  for (const { inputSchema, outputSchema } of own) {
    expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
    expect(outputSchema).toMatchObject({ type: 'object' });
  }
});

test('operation_list finds operations by tool, status, key and time, page by page', async () => {
  const key = randomUUID();
  const since = new Date(Date.now() - 1000).toISOString();
  const token = await caller.start('slow_compute', { seconds: 0, idempotency_key: key });
  const other = await caller.start('slow_compute', { seconds: 0 });
  await Promise.all([token, other].map((one) => caller.settled(one)));
  const find = async (args: object) => (await caller.get('operation_list', args)).operations;
  const [found] = await eventually('it is listed', async () => {
    const all = await find({ idempotency_key: key, status: 'completed' });
    return all.length === 1 ? all : undefined;
  });
  expect(found).toMatchObject({ token, tool: 'slow_compute', status: 'completed' });
  expect(await find({ idempotency_key: key, status: 'running' })).toEqual([]);
  expect(await find({ idempotency_key: key, tool: 'confirm_delete' })).toEqual([]);
  for (const time of [since, 3600]) expect(await find({ idempotency_key: key, since: time })).toHaveLength(1);
  expect(await find({ since: new Date(Date.now() + 60_000).toISOString() })).toEqual([]);

  // Closed operations only: an open one that closes between two pages moves to the second.
  const filter = { tool: 'slow_compute', status: 'completed', limit: 1 };
  await eventually('both are listed', async () => (await find({ ...filter, limit: 2 })).length === 2);
  const page = await caller.call('operation_list', filter);
  const { next_cursor: cursor } = page.structuredContent;
  expect(textOf(page)).toContain(`operation_list ${JSON.stringify({ cursor })}`);
  const [first] = page.structuredContent.operations;
  for (const args of [
    { ...filter, cursor },
    { cursor, limit: 1 },
  ])
    expect((await find(args))[0].token).not.toBe(first.token);
  const refusal = 'cursor: expected one from an earlier page';
  for (const args of [{ tool: 'confirm_delete', cursor }, { cursor: forged(cursor) }, { cursor: 'x' }])
    await caller.refused('operation_list', args, 'invalid_arguments', refusal);
});

test('operation_list refuses a since that is no time', async () => {
  const message = 'arguments.since: expected ISO 8601';
  for (const since of ['yesterday', '2026-13-01', '1', '2026-11-21T12:00'])
    await caller.refused('operation_list', { since }, 'invalid_arguments', message);
});
