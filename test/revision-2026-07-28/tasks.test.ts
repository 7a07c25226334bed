import { describe, expect, test } from '@jest/globals';
import { forAllTests } from '../support/for-all-tests.js';
import { TASKS, type RpcAnswer } from '../support/mcp.js';
import { TestStack } from '../support/test-stack.js';

const parts = await forAllTests(TestStack.shared());

describe('a call of a long tool', () => {
  test('gives a task at once, whose state can be read from the first moment to the last', async () => {
    const { client } = parts;
    const { result } = await client.call('slow_compute', { seconds: 2 });
    expect(result).toMatchObject({ resultType: 'task', status: 'working', ttlMs: null });
    expect(result).not.toHaveProperty('content');
    expect(await client.get(result.taskId)).toMatchObject({
      taskId: result.taskId,
      createdAt: result.createdAt,
    });
    const working = await client.until(
      result.taskId,
      (task) => task._meta?.['longhaul/progress']?.progress > 0,
    );
    expect(working.statusMessage).toMatch(/^count primes: [\d.]+ of 2, \d+ primes$/);
    const done = await client.until(result.taskId, 'completed');
    expect(done.result.structuredContent).toMatchObject({ primes: expect.any(Number) });
    expect(done.ttlMs).toBeGreaterThan(24 * 3600 * 1000);
    expect(await client.get(result.taskId)).toEqual(done);
  });

  test('polls are suggested by the estimate', async () => {
    const { client } = parts;
    const long = await client.start('slow_compute', { seconds: 600 });
    expect((await client.get(long)).pollIntervalMs).toBe(30_000);
    await client.request('tasks/cancel', { taskId: long });
  });

  test('without the extension is refused, naming it, where it is a task only, else served plainly', async () => {
    const plain = parts.client.with({});
    const refused = await plain.call('failing_job', {});
    expect(refused).toMatchObject({
      httpStatus: 400,
      error: {
        code: -32021,
        data: { requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } },
      },
    });
    const short = await plain.call('slow_compute', { seconds: 0 });
    expect(short.result).toMatchObject({
      resultType: 'complete',
      structuredContent: { status: 'completed', result: { label: '' } },
    });
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const { error } = await plain.request(method, { taskId: 'x', inputResponses: {} });
      expect(error?.code).toBe(-32021);
    }
  });

  test('is read by requests of the same form as others, and with the same errors', async () => {
    const { client } = parts;
    const taskId = await client.start('slow_compute', { seconds: 600 });
    const send = async (
      method: string,
      { headers = {}, body = {} }: { headers?: Record<string, string>; body?: Record<string, unknown> },
    ) => {
      const message = { ...client.envelope(method, { taskId }), id: 1, ...body };
      const all = { ...client.headers(method, { taskId }), ...headers };
      const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
      const response = await client.post(JSON.stringify(message), given);
      const { error } = (await response.json()) as RpcAnswer;
      return { httpStatus: response.status, code: error?.code };
    };
    const version = 'io.modelcontextprotocol/protocolVersion';
    const odd: Parameters<typeof send>[1][] = [
      { headers: { 'content-type': 'text/plain' } },
      { headers: { 'mcp-protocol-version': '' } },
      { headers: { 'mcp-protocol-version': '2025-11-25' } },
      { headers: { 'mcp-method': '' } },
      { headers: { 'mcp-method': 'tools/list' } },
      { body: { id: null } },
      { body: { id: {} } },
      { body: { jsonrpc: '1.0' } },
      { body: { params: { taskId } } },
      { body: { params: [] } },
      { body: { params: { taskId, _meta: { [version]: '2026-07-28' } } } },
      { body: { params: { taskId, _meta: { [version]: '2030-01-01' } } } },
    ];
    for (const each of odd) {
      const { code, httpStatus } = await send('tasks/get', each);
      expect(code).toBeLessThan(0);
      expect({ code, httpStatus }).toEqual(await send('tasks/cancel', each));
    }
    expect(await send('tasks/get', {})).toEqual({ httpStatus: 200, code: undefined });
    expect((await client.get(taskId))._meta['io.modelcontextprotocol/serverInfo'].name).toBe('longhaul');
    await client.request('tasks/cancel', { taskId });
  });

  test('asks for what is missing before it starts, and then carries the answer', async () => {
    const { client } = parts;
    const first = await client.call('test_tool_with_task', {});
    expect(first.result).toMatchObject({
      resultType: 'input_required',
      inputRequests: { name: { method: 'elicitation/create', params: { message: 'Who is there?' } } },
    });
    const retried = await client.request('tools/call', {
      name: 'test_tool_with_task',
      arguments: {},
      inputResponses: { name: { action: 'accept', content: { name: 'Alice' } } },
    });
    const done = await client.until(retried.result.taskId, 'completed');
    expect(done.result.content[0].text).toBe('Hello Alice, the task is done');
    const declined = await client.request('tools/call', {
      name: 'test_tool_with_task',
      arguments: {},
      inputResponses: { name: { action: 'decline' } },
    });
    expect(declined.error).toMatchObject({ code: -32602, message: expect.stringContaining('not answered') });
    const mute = await client.with(TASKS).call('test_tool_with_task', {});
    expect(mute.result).toMatchObject({
      isError: true,
      content: [{ text: 'arguments: missing "name"' }, { text: expect.stringContaining('try again') }],
    });
  });
});

test('failures of the tool complete with isError, cause and what had been finished', async () => {
  const done = await parts.client.until(await parts.client.start('failing_job'), 'completed');
  expect(done.result).toMatchObject({
    isError: true,
    _meta: { 'longhaul/error': { kind: 'failed', retryable: true } },
  });
  expect(done.result.content[0].text).toContain('the second half exploded');
  expect(done.result.content[0].text).toContain('a spark');
  expect(done.result.content[0].text).toContain('first half');
});

test('failures of the protocol fail the task with a JSON-RPC error', async () => {
  const failed = await parts.client.until(await parts.client.start('protocol_error_job'), 'failed');
  expect(failed.error).toEqual({ code: -32603, message: 'the upstream rate limit was exceeded' });
  expect(failed).not.toHaveProperty('result');
});

describe('questions', () => {
  const ask = async () => {
    const taskId = await parts.client.start('confirm_delete', { filename: 'notes.txt' });
    const task = await parts.client.until(taskId, 'input_required');
    return { taskId, key: Object.keys(task.inputRequests)[0]!, task };
  };

  test('are shown as elicitation, and the answer reaches the tool', async () => {
    const { taskId, key, task } = await ask();
    expect(task.inputRequests[key]).toMatchObject({
      method: 'elicitation/create',
      params: {
        mode: 'form',
        message: 'Delete notes.txt?',
        requestedSchema: { type: 'object', required: ['confirm'] },
      },
    });
    const ack = await parts.client.answer(taskId, key, { action: 'accept', content: { confirm: true } });
    expect(Object.keys(ack.result)).toEqual(expect.arrayContaining(['resultType']));
    const done = await parts.client.until(taskId, 'completed');
    expect(done.result.structuredContent).toEqual({ answer: 'accept', deleted: ['notes.txt'] });
  });

  test('refuse answers of the wrong type and ignore unknown keys; the question stays open', async () => {
    const { taskId, key } = await ask();
    const wrong = await parts.client.answer(taskId, key, { action: 'accept', content: { confirm: 'yes' } });
    expect(wrong.error).toMatchObject({
      code: -32602,
      message: `inputResponses.${key}: content.confirm: expected boolean; got "yes"`,
    });
    const shapeless = await parts.client.answer(taskId, key, { confirm: true });
    expect(shapeless.error).toMatchObject({ code: -32602, message: expect.stringContaining('action') });
    const unknown = await parts.client.answer(taskId, 'input-99', { action: 'accept', content: {} });
    expect(unknown.result).toMatchObject({ resultType: 'complete' });
    const missing = await parts.client.request('tasks/update', { taskId });
    expect(missing.error).toMatchObject({ code: -32602, message: expect.stringContaining('inputResponses') });
    expect(await parts.client.get(taskId)).toMatchObject({ status: 'input_required' });
    await parts.client.request('tasks/cancel', { taskId });
  });

  test('take exactly one of two answers at once, and acknowledge a late one', async () => {
    const { taskId, key } = await ask();
    const both = await Promise.all([
      parts.client.answer(taskId, key, { action: 'accept', content: { confirm: true } }),
      parts.client.answer(taskId, key, { action: 'accept', content: { confirm: false } }),
    ]);
    for (const { result } of both) expect(result).toMatchObject({ resultType: 'complete' });
    const done = await parts.client.until(taskId, 'completed');
    expect(done.result.structuredContent.answer).toBe('accept');
    const history = await (await parts.temporal()).workflow.getHandle(taskId).fetchHistory();
    const taken = history.events!.filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes);
    expect(taken).toHaveLength(1);
    const late = await parts.client.answer(taskId, key, { action: 'accept', content: { confirm: true } });
    expect(late.result).toMatchObject({ resultType: 'complete' });
  });

  test('may be declined, which the tool sees, or cancelled, which asks again under a new key', async () => {
    const { taskId, key } = await ask();
    await parts.client.answer(taskId, key, { action: 'cancel' });
    const again = await parts.client.until(
      taskId,
      (task) => task.inputRequests && !(key in task.inputRequests),
    );
    const [next] = Object.keys(again.inputRequests);
    await parts.client.answer(taskId, next!, { action: 'decline' });
    const done = await parts.client.until(taskId, 'completed');
    expect(done.result.structuredContent).toEqual({ answer: 'decline', deleted: [] });
  });

  test('may be answered one by one; only the open ones are shown', async () => {
    const { client } = parts;
    const taskId = await client.start('multi_input');
    const task = await client.until(taskId, (one) => Object.keys(one.inputRequests ?? {}).length === 2);
    const [first, second] = Object.keys(task.inputRequests);
    await client.answer(taskId, first!, { action: 'accept', content: { name: 'a' } });
    expect(Object.keys((await client.get(taskId)).inputRequests)).toEqual([second]);
    await client.answer(taskId, second!, { action: 'accept', content: { name: 'b' } });
    const done = await client.until(taskId, 'completed');
    expect(done.result.structuredContent.answers).toEqual([{ name: 'a' }, { name: 'b' }]);
  });

  test('say how to answer to a client that cannot show them', async () => {
    const { taskId, key } = await ask();
    const task = await parts.client.with(TASKS).get(taskId);
    expect(task).toMatchObject({ status: 'working' });
    expect(task.statusMessage).toContain(`longhaul answer ${taskId} ${key}`);
    expect(task).not.toHaveProperty('inputRequests');
    await parts.client.request('tasks/cancel', { taskId });
  });
});

test('a cancel is seen at once, ends the work, and is acknowledged again and again', async () => {
  const { client } = parts;
  const taskId = await client.start('slow_compute', { seconds: 600 });
  await client.until(taskId, (task) => task._meta?.['longhaul/progress']?.progress > 0);
  expect((await client.request('tasks/cancel', { taskId })).result).not.toHaveProperty('taskId');
  expect(await client.get(taskId)).toMatchObject({
    statusMessage: expect.stringMatching(/^being cancelled|^canceled/),
  });
  await client.request('tasks/cancel', { taskId });
  await client.until(taskId, 'cancelled');
  expect((await client.request('tasks/cancel', { taskId })).result).toMatchObject({ resultType: 'complete' });
});

/** Sends a request with the given Mcp-Name, or with none. */
async function send(method: string, params: Record<string, unknown>, mcpName?: string): Promise<RpcAnswer> {
  const { 'mcp-name': _, ...rest } = parts.client.headers(method, params);
  const response = await parts.client.post(JSON.stringify(parts.client.envelope(method, params)), {
    ...rest,
    ...(mcpName === undefined ? {} : { 'mcp-name': mcpName }),
  });
  const { result, error } = (await response.json()) as RpcAnswer;
  return { httpStatus: response.status, notifications: [], result, ...(error && { error }) };
}

const refused = { httpStatus: 400, error: { code: -32020 } };

describe('a tasks/* request without Mcp-Name', () => {
  test('is served: a task is read, answered and cancelled', async () => {
    const taskId = await parts.client.start('confirm_delete', { filename: 'a' });
    await parts.client.until(taskId, 'input_required');
    const { result } = await send('tasks/get', { taskId });
    expect(result).toMatchObject({ taskId, status: 'input_required' });
    // A dismissed question is asked again.
    const inputResponses = { 'input-1': { action: 'cancel' } };
    for (const [method, params] of [
      ['tasks/update', { taskId, inputResponses }],
      ['tasks/cancel', { taskId }],
    ] as const)
      expect(await send(method, params)).toMatchObject({
        httpStatus: 200,
        result: { resultType: 'complete' },
      });
    await parts.client.until(taskId, 'cancelled');
  });

  test('gets the usual error for a task that is unknown, whatever characters its ID has', async () => {
    for (const taskId of ['unknown', ' ', 'a\r\nb', 'žluťoučký', '=?base64?literal?=']) {
      const named = `=?base64?${Buffer.from(taskId).toString('base64')}?=`;
      const expected = await send('tasks/get', { taskId }, named);
      expect(expected.error?.code).toBe(-32602);
      expect(await send('tasks/get', { taskId })).toEqual(expected);
    }
  });

  test('and without a task ID is refused for that', async () => {
    for (const params of [{}, { taskId: 7 }, { taskId: null }]) {
      expect((await send('tasks/get', params)).error?.code).toBe(-32602);
    }
  });
});

test('Mcp-Name of a tasks/* request is refused where it names another task than the body', async () => {
  const taskId = await parts.client.start('confirm_delete', { filename: 'c' });
  for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
    for (const name of ['another', '', '=?base64?***?='])
      expect(await send(method, { taskId, inputResponses: {} }, name)).toMatchObject(refused);
  }
  expect((await parts.client.get(taskId)).status).not.toBe('cancelled');
  await parts.client.request('tasks/cancel', { taskId });
});

test('Mcp-Name stays required where the core specification demands it', async () => {
  const call = { name: 'confirm_delete', arguments: { filename: 'd' } };
  expect(await send('tools/call', call)).toMatchObject(refused);
  // Also where the call carries a task ID, which means nothing there.
  expect(await send('tools/call', { ...call, taskId: 'confirm_delete' })).toMatchObject(refused);
  expect(await send('resources/read', { uri: 'longhaul://operations/x' })).toMatchObject(refused);
});
