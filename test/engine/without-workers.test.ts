/** While every worker is down, state is read, and what callers ask for is kept; it takes effect once one is back. */
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { forAllTests, temporaryFolder } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';

/** Operations that the worker has begun. */
const begun = { works: '', asks: '', hasPartial: '' };
/** Key of the open question. */
let key: string;
const folder = temporaryFolder('without');
// Own stack: its worker is killed.
const parts = await forAllTests(TestStack.start());
const { client } = parts;
beforeAll(async () => {
  begun.works = await client.start('step_ledger', {
    ledger: join(folder, 'ledger'),
    steps: 3,
    secondsPerStep: 60,
  });
  begun.asks = await client.start('confirm_delete', { filename: 'queued.txt' });
  begun.hasPartial = await client.start('large_values', { partialBytes: 100_000, thenWaitSeconds: 600 });
  await client.until(begun.works, (task) => task._meta?.['longhaul/progress']?.stage === 'step 1');
  [key = ''] = Object.keys((await client.until(begun.asks, 'input_required')).inputRequests);
  await eventually('it has a partial result', async () => (await fetch(partialUrl())).ok);
  await parts.parts[1]!.end('SIGKILL');
});

const partialUrl = () => `${parts.base}/v1/jobs/${begun.hasPartial}/partial`;
const readPartial = () =>
  parts.client.request('resources/read', { uri: `longhaul://operations/${begun.hasPartial}/partial` });

describe('while every worker is down', () => {
  test('state is read', async () => {
    expect(await parts.client.get(begun.works)).toMatchObject({
      status: 'working',
      _meta: { 'longhaul/progress': { stage: 'step 1', total: 3 } },
    });
  });

  test('an answer that does not fit is refused', async () => {
    const answer = { action: 'accept', content: { confirm: 3 } };
    const { error } = await parts.client.answer(begun.asks, key, answer);
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('content.confirm') });
  });

  test('a large partial result is read from storage', async () => {
    const expected = { text: 'p'.repeat(100_000) };
    expect(await (await fetch(partialUrl())).json()).toEqual(expected);
    expect(JSON.parse((await readPartial()).result.contents[0].text)).toEqual(expected);
    const partial = await client.call('operation_get', { token: begun.hasPartial, view: 'partial' });
    expect(partial.result.isError).not.toBe(true);
    // Terminated, it keeps its partial result.
    await (await parts.temporal()).workflow.getHandle(begun.hasPartial).terminate('by an operator');
    expect(await (await fetch(partialUrl())).json()).toEqual(expected);
  });
});

test('a start, an answer and a cancel without workers are kept, and take effect once one is back', async () => {
  const started = await client.start('confirm_delete', { filename: 'later.txt' });
  expect(await client.get(started)).toMatchObject({
    status: 'working',
    statusMessage: 'waiting for a worker',
  });
  await client.request('tasks/cancel', { taskId: begun.works });
  expect(await client.get(begun.works)).toMatchObject({
    status: 'working',
    statusMessage: expect.stringMatching(/^being cancelled/),
  });
  const queued = await client.answer(begun.asks, key, { action: 'accept', content: { confirm: true } });
  expect(queued.result).toMatchObject({ resultType: 'complete' });
  const task = await client.until(started, (one) => /no worker has taken/.test(one.statusMessage));
  expect(task.statusMessage).toMatch(/^no worker has taken the work for \d+ s$/);

  parts.worker();
  await client.until(begun.works, 'cancelled');
  const done = await client.until(begun.asks, 'completed');
  expect(done.result.structuredContent).toEqual({ answer: 'accept', deleted: ['queued.txt'] });
  await client.until(started, 'input_required');
  const whole = await eventually('the worker answers', async () => {
    const answer = await fetch(partialUrl());
    return answer.ok ? ((await answer.json()) as { text: string }) : undefined;
  });
  expect(whole.text).toHaveLength(100_000);
  expect((await readPartial()).result.contents[0].text).toHaveLength(100_011);
});
