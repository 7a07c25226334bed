import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { TestStack } from '../support/test-stack.js';

let parts: TestStack;
beforeAll(async () => {
  parts = await TestStack.start();
});
afterAll(() => parts?.stop());

const workers = () => parts.parts.filter((part) => part.process.spawnargs.includes('worker'));

test('while every worker is down, state is read, a cancel is seen at once, and it takes effect when one is back', async () => {
  const { client } = parts;
  const ledger = join(mkdtempSync(join(tmpdir(), 'longhaul-')), 'ledger');
  const taskId = await client.start('step_ledger', { ledger, steps: 3, secondsPerStep: 60 });
  await client.until(taskId, (task) => task._meta?.['longhaul/progress']?.stage === 'step 1');
  await Promise.all(workers().map((part) => part.end('SIGKILL')));

  expect(await client.get(taskId)).toMatchObject({
    status: 'working',
    _meta: { 'longhaul/progress': { stage: 'step 1', total: 3 } },
  });
  await client.request('tasks/cancel', { taskId });
  expect(await client.get(taskId)).toMatchObject({
    status: 'working',
    statusMessage: expect.stringMatching(/^being cancelled/),
  });

  parts.worker();
  await client.until(taskId, 'cancelled');
});

test('an answer is queued while no worker is there, and refused when it does not fit', async () => {
  const { client } = parts;
  const taskId = await client.start('confirm_delete', { filename: 'queued.txt' });
  const task = await client.until(taskId, 'input_required');
  const [key] = Object.keys(task.inputRequests);
  await Promise.all(workers().map((part) => part.end('SIGKILL')));
  const wrong = await client.answer(taskId, key!, { action: 'accept', content: { confirm: 3 } });
  expect(wrong.error).toMatchObject({
    code: -32602,
    message: expect.stringContaining('content.confirm: expected boolean; got 3'),
  });
  const queued = await client.answer(taskId, key!, { action: 'accept', content: { confirm: true } });
  expect(queued.result).toMatchObject({ resultType: 'complete' });
  parts.worker();
  const done = await client.until(taskId, 'completed');
  expect(done.result.structuredContent).toEqual({ answer: 'accept', deleted: ['queued.txt'] });
});

test('a large partial result, which only the workflow holds, is unavailable rather than missing', async () => {
  const { client } = parts;
  const token = await client.start('large_values', { partialBytes: 100_000, thenWaitSeconds: 600 });
  const partialUrl = `${parts.base}/v1/jobs/${token}/partial`;
  const uri = `longhaul://operations/${token}/partial`;
  const view = { name: 'operation_get', arguments: { token, view: 'partial' } };
  await eventually('it has a partial result', async () => (await fetch(partialUrl)).ok);
  await Promise.all(workers().map((part) => part.end('SIGKILL')));

  const problem = "the partial result can't be read at present: no worker answers";
  const response = await fetch(partialUrl);
  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(await response.json()).toMatchObject({ detail: expect.stringContaining(problem) });
  const read = await client.request('resources/read', { uri });
  expect(read.error!.message).toContain(problem);
  const looked = (await client.request('tools/call', view)).result;
  expect(looked.isError).toBe(true);
  expect(looked.content[0].text).toContain(problem);
  // Terminated, it leaves its partial result neither in the memo nor in storage.
  await (await parts.temporal()).workflow.getHandle(token).terminate('by an operator');
  expect((await fetch(partialUrl)).status).toBe(503);

  parts.worker();
  const whole = async () => {
    const answer = await fetch(partialUrl);
    return answer.ok && ((await answer.json()) as { text: string }).text.length;
  };
  expect(await eventually('a worker answers', whole)).toBe(100_000);
  expect((await client.request('resources/read', { uri })).result.contents[0].text).toHaveLength(100_011);
});

test('a start without workers is durable, and says after a while that nobody takes it', async () => {
  const { client } = parts;
  await Promise.all(workers().map((part) => part.end('SIGTERM')));
  const taskId = await client.start('confirm_delete', { filename: 'later.txt' });
  expect(await client.get(taskId)).toMatchObject({
    status: 'working',
    statusMessage: 'waiting for a worker',
  });
  const task = await client.until(taskId, (one) => /no worker has taken/.test(one.statusMessage));
  expect(task.statusMessage).toMatch(/^no worker has taken the work for \d+ s$/);
  parts.worker();
  await client.until(taskId, 'input_required');
  await client.request('tasks/cancel', { taskId });
});
