import { describe, expect, test } from '@jest/globals';
import { forAllTests } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';

const parts = await forAllTests(TestStack.shared());

describe('a call', () => {
  test('with arguments that do not fit is a result that names path, expectation and what came; nothing starts', async () => {
    const { result } = await parts.client.call('step_ledger', { ledger: 7, steps: 0, extra: true });
    expect(result).toMatchObject({
      isError: true,
      _meta: { 'longhaul/error': { kind: 'invalid_arguments', retryable: false } },
    });
    expect(result.content.flatMap(({ text }: any) => text.split('\n'))).toEqual([
      'arguments.ledger: expected string; got 7',
      'arguments.steps: expected minimum 1; got 0',
      'arguments.extra: unknown; remove it',
      'Nothing was done. Correct the call and try again.',
    ]);
    expect(result).not.toHaveProperty('taskId');
  });

  test('with 1 MiB of arguments works, with one byte more is refused', async () => {
    const overhead = JSON.stringify({ text: '' }).length;
    const fits = 'x'.repeat(1024 * 1024 - overhead);
    const taskId = await parts.client.start('large_values', { text: fits });
    const done = await parts.client.until(taskId, 'completed');
    expect(done.result.structuredContent.textLength).toBe(fits.length);
    const { result } = await parts.client.call('large_values', { text: `${fits}x` });
    expect(result).toMatchObject({ isError: true, _meta: { 'longhaul/error': { kind: 'too_large' } } });
    expect(result.content[0].text).toContain('expected at most 1048576 bytes; got 1048577');
  });

  test('of an unknown tool names the available ones', async () => {
    const { error } = await parts.client.call('nonesuch', {});
    expect(error).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/unknown tool "nonesuch"; known are .*greet/),
    });
  });
});

test('an unknown token is not found, on every method', async () => {
  for (const [method, params] of [
    ['tasks/get', {}],
    ['tasks/cancel', {}],
    ['tasks/update', { inputResponses: { a: { action: 'decline' } } }],
  ] as const) {
    const { error } = await parts.client.request(method, { taskId: 'nonesuch', ...params });
    expect(error).toMatchObject({ code: -32602, message: 'Failed to retrieve task: Task not found' });
  }
});

test("a workflow that is not Longhaul's is not found either", async () => {
  const temporal = await parts.temporal();
  const workflowId = `foreign-${parts.taskQueue}`;
  const handle = await temporal.workflow.start('greet', {
    workflowId,
    taskQueue: parts.taskQueue,
    args: [{ name: 'x' }],
  });
  await handle.result();
  const { error } = await parts.client.request('tasks/get', { taskId: workflowId });
  expect(error).toMatchObject({ code: -32602, message: 'Failed to retrieve task: Task not found' });
});

describe('the endpoint refuses', () => {
  const headers = () => parts.client.headers('tools/list');
  const body = () => JSON.stringify(parts.client.envelope('tools/list'));

  test('malformed JSON with -32700', async () => {
    const response = await parts.client.post('{"jsonrpc": "2.0", ', headers());
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: -32700 } });
  });

  test('another content type with 415', async () => {
    const response = await parts.client.post(body(), { ...headers(), 'content-type': 'text/plain' });
    expect(response.status).toBe(415);
  });

  test('a body over 4 MiB with 413, and keeps serving', async () => {
    const huge = JSON.stringify(
      parts.client.envelope('tools/list', { padding: 'x'.repeat(5 * 1024 * 1024) }),
    );
    const response = await parts.client.post(huge, headers());
    expect(response.status).toBe(413);
    const streamed = await fetch(parts.client.url, {
      method: 'POST',
      headers: headers(),
      body: new Blob([huge]).stream(),
      duplex: 'half',
    });
    expect(streamed.status).toBe(413);
    expect((await parts.client.request('tools/list')).result.tools).not.toEqual([]);
  });

  test('no request for its missing length', async () => {
    const response = await fetch(parts.client.url, {
      method: 'POST',
      headers: headers(),
      body: new Blob([body()]).stream(),
      duplex: 'half',
    });
    expect(response.status).toBe(200);
  });

  test('GET and DELETE with 405, and methods that the revision lacks with -32601', async () => {
    for (const method of ['GET', 'DELETE']) {
      expect((await fetch(parts.client.url, { method })).status).toBe(405);
    }
    const { error, httpStatus } = await parts.client.request('tasks/list');
    expect([error?.code, httpStatus]).toEqual([-32601, 404]);
  });
});

test('a port in use is an error of one line that names the port and the setting', async () => {
  const second = parts.server();
  await new Promise((settle) => second.process.once('exit', settle));
  await second.end();
  expect(second.process.exitCode).toBe(1);
  expect(second.output()).toContain(
    `port ${parts.port} of 127.0.0.1 is in use; choose another with LONGHAUL_PORT or --port`,
  );
});
