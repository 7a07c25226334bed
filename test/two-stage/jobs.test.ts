/** Outcomes of jobs, as different clients read them, and refused calls. */
import { describe, expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { forAllTests, inSetUp } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';
import { HttpClient, OPT_IN, notificationsOf } from './client.js';

const parts = await forAllTests(TestStack.shared());
const client = await forAllTests(HttpClient.open(parts.client.url));
await inSetUp(client.listen());

const call = (name: string, args: object = {}, more: object = {}): Promise<any> =>
  client.request('tools/call', { name, arguments: args, ...more });
const poll = async (jobId: unknown): Promise<any> => client.request('tools/poll_result', { job_id: jobId });

async function start(name: string, args: object = {}): Promise<string> {
  return (await call(name, args)).result.data.job_id;
}

async function ended(jobId: string): Promise<any> {
  const { result } = await eventually(
    `the result of ${jobId}`,
    () => notificationsOf(client, jobId).results[0],
  );
  const polled = (await poll(jobId)).result;
  expect(polled).toMatchObject({ success: true, data: { job_id: jobId, status: 'complete' } });
  expect(polled.data.result).toEqual(result);
  return result;
}

describe('a job', () => {
  test('that fails is complete without success: what went wrong, and what was finished', async () => {
    const result = await ended(await start('failing_job'));
    expect(result).toMatchObject({
      success: false,
      data: { error: { kind: 'failed', retryable: true }, partial: { done: ['first half'] } },
      messages: [{ type: 'error', text: expect.any(String) }],
      isError: true,
    });
  });

  test('that asks is running, shows its question, and continues with the answer', async () => {
    const jobId = await start('confirm_delete', { filename: 'old.csv' });
    const notified = await eventually('it asks', () =>
      notificationsOf(client, jobId).progress.find(({ message }) => /Delete old\.csv\?/.test(message)),
    );
    expect((await poll(jobId)).result.data.status).toBe('running');
    const args = JSON.parse(/operation_answer (\{.*\})/.exec(notified.message)![1]!);
    await call('operation_answer', { ...args, content: { confirm: true } });
    expect((await ended(jobId)).data).toEqual({ answer: 'accept', deleted: ['old.csv'] });
  });

  test('ends with the JSON-RPC error of its tool as a message', async () => {
    const result = await ended(await start('protocol_error_job'));
    expect(result).toMatchObject({ success: false, data: { error: { kind: 'protocol' } } });
  });

  test('of a repeated idempotency key is the same one; once it has ended, with its result', async () => {
    const args = { seconds: 0, label: 'k', idempotency_key: `two-stage-${Date.now()}` };
    const jobId = await start('slow_compute', args);
    await ended(jobId);
    const again = (await call('slow_compute', args)).result;
    expect(again.data).toMatchObject({ job_id: jobId, status: 'complete', result: { success: true } });
    expect(again.structuredContent).toMatchObject({ success: true, data: { job_id: jobId } });
    expect(notificationsOf(client, jobId).results).toHaveLength(1);
    const other = (await call('slow_compute', { ...args, label: 'other' })).result;
    expect(other).toMatchObject({ success: false, isError: true, data: { error: { kind: 'conflict' } } });
  });
});

describe.each(['2025-11-25', '2026-07-28'])('keep_alive_seconds in %s', (revision) => {
  const request = async (keepAlive: unknown, more: object = {}): Promise<any> => {
    const by = revision === '2025-11-25' ? client : parts.client.with(OPT_IN);
    const params = { name: 'slow_compute', arguments: { seconds: 0 }, keep_alive_seconds: keepAlive };
    return by.request('tools/call', { ...params, ...more });
  };

  test('is answered with its final value, which what Temporal keeps bounds', async () => {
    const given = await Promise.all(
      [60, 59.1, 1e300, null, undefined].map(async (keepAlive) => {
        const { result } = await request(keepAlive);
        expect(result.structuredContent.data).toEqual(result.data);
        return result.data.keep_alive_seconds;
      }),
    );
    const [, , bound] = given;
    expect(bound).toBeGreaterThanOrEqual(24 * 3600);
    expect(given).toEqual([60, 60, bound, bound, Math.min(bound, 24 * 3600)]);
  });

  test('is how long the result can be read', async () => {
    const { result } = await request(1);
    const { job_id: jobId } = result.data;
    const gone = await eventually('it is gone', async () => {
      const polled = (await poll(jobId)).result;
      return !polled.success && polled;
    });
    expect(gone.messages).toEqual([{ type: 'error', text: `Job not found: ${jobId}` }]);
  });

  test.each([[0], [-1], ['60'], [[60]]])('of %j is refused, and nothing starts', async (keepAlive) => {
    const { error } = await request(keepAlive);
    expect(error).toMatchObject({
      code: -32602,
      message: `params.keep_alive_seconds: expected a number of seconds above 0, or null for as long as possible; got ${JSON.stringify(keepAlive)}`,
    });
  });
});

test('fields beside the arguments are refused before the person is asked for missing arguments', async () => {
  const request = async (optIn: object, more: object): Promise<any> =>
    parts.client
      .with({ ...optIn, elicitation: {} })
      .request('tools/call', { name: 'test_tool_with_task', arguments: {}, ...more });
  expect((await request(OPT_IN, {})).result.resultType).toBe('input_required');
  const tokens = { experimental: { asyncTools: {} } };
  for (const [optIn, more, field] of [
    [OPT_IN, { keep_alive_seconds: 0 }, 'params.keep_alive_seconds'],
    [tokens, { operation: { tokn: 'a' } }, 'params.operation.tokn'],
  ] as const)
    expect((await request(optIn, more)).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining(field),
    });
});

test('tools that answer at once do so here too', async () => {
  const { result } = await call('greet', { name: 'Ada' });
  expect(result.content[0].text).toContain('Ada');
  expect(result).not.toHaveProperty('data');
  const { tools } = (await client.request('tools/list')).result;
  const listed = (name: string) => tools.find((tool: any) => tool.name === name);
  expect(listed('greet')).not.toHaveProperty('async');
  expect(listed('failing_job').async).toBe(true);
});

test("a call's own task field wins over the opt-in", async () => {
  const { result } = await call('slow_compute', { seconds: 0 }, { task: {} });
  expect(result.task.taskId).toEqual(expect.any(String));
  expect(result).not.toHaveProperty('data');
});

describe('refused is', () => {
  test.each([
    ['no job', undefined, 'params.job_id'],
    ['an empty job', '', 'params.job_id'],
    ['a job that is no text', 7, 'params.job_id'],
    ['a job that is too long', 'x'.repeat(1001), 'params.job_id'],
  ])('polling %s', async (_what, jobId, field) => {
    const { error } = await poll(jobId);
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(field) });
  });

  test('a call with wrong arguments: nothing starts', async () => {
    const { result } = await call('slow_compute', { seconds: -1 });
    expect(result).toMatchObject({
      success: false,
      isError: true,
      data: { error: { kind: 'invalid_arguments', retryable: false } },
      messages: [{ type: 'error', text: expect.stringContaining('arguments.seconds: expected minimum 0') }],
    });
    expect(result.data).not.toHaveProperty('job_id');
  });

  test('an idempotency key of another form', async () => {
    const { result } = await call('slow_compute', { seconds: 0, idempotency_key: '' });
    expect(result).toMatchObject({
      success: false,
      isError: true,
      messages: [
        { type: 'error', text: expect.stringContaining('arguments.idempotency_key: expected a text') },
      ],
    });
  });

  test('an unknown tool', async () => {
    expect((await call('nonesuch')).error.code).toBe(-32602);
  });

  test('polling and cancelling by a client that did not opt in, in both revisions; it sees no async tools', async () => {
    const without = await HttpClient.open(parts.client.url, { capabilities: {} });
    for (const method of ['tools/poll_result', 'tools/cancel_job']) {
      expect((await without.request(method, { job_id: 'a' })).error.code).toBe(-32601);
      expect((await parts.client.request(method, { job_id: 'a' })).error?.code).toBe(-32601);
    }
    const { tools } = (await without.request('tools/list')).result;
    expect(tools.filter((tool: any) => 'async' in tool)).toEqual([]);
    expect(without.initialized.result.capabilities.experimental).toHaveProperty('twoStage');
  });
});
