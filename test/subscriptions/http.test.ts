import { describe, expect, test } from '@jest/globals';
import { resolve } from 'node:path';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { TASKS } from '../support/mcp.js';
import { TestStack } from '../support/test-stack.js';
import { FORBIDDEN, plainTask, subscribe, SUBSCRIPTION_ID, tasksIn } from './support.js';

const AIRPORTS = resolve('node_modules/vega-datasets/data/flights-airport.csv');

const parts = await forAllTests(TestStack.shared());

test('a subscription is acknowledged first, without unknown tasks', async () => {
  const taskId = await parts.client.start('confirm_delete', { filename: 'a' });
  const { messages, response, subscriptionId, close } = await subscribe(parts.client, {
    taskIds: ['no-such-task', taskId, taskId],
    toolsListChanged: true,
  });
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  await eventually('two messages', () => messages.length > 1);
  expect(messages[0]).toEqual({
    jsonrpc: '2.0',
    method: 'notifications/subscriptions/acknowledged',
    params: { _meta: { [SUBSCRIPTION_ID]: subscriptionId }, notifications: { taskIds: [taskId] } },
  });
  close();
});

test('a subscription to nothing is acknowledged with nothing', async () => {
  for (const notifications of [{}, { toolsListChanged: true }, { taskIds: ['no-such-task'] }]) {
    const { messages, close } = await subscribe(parts.client, notifications);
    await eventually('the acknowledgment', () => messages.length > 0);
    expect(messages[0]!.params.notifications).toEqual('taskIds' in notifications ? { taskIds: [] } : {});
    close();
  }
});

test('a subscription notifies of each state in order, each as tasks/get returns it, up to the result', async () => {
  const { client } = parts;
  const taskId = await client.start('analyze_dataset', { path: AIRPORTS, profile: true, ask_over_mb: 0 });
  const { messages, subscriptionId, close } = await subscribe(client, { taskIds: [taskId] });
  const reached = (status: string) =>
    eventually(`it is ${status}`, () => tasksIn(messages).find((task) => task.status === status));

  const asking = await reached('input_required');
  expect(asking).toEqual(plainTask(await client.get(taskId)));
  expect(asking._meta['longhaul/progress'].progress).toBeGreaterThan(0);
  const [key] = Object.keys(asking.inputRequests);
  await client.answer(taskId, key!, { action: 'accept', content: { write: true } });
  const done = await reached('completed');
  expect(done).toEqual(plainTask(await client.get(taskId)));
  expect(done.result.structuredContent.artifact.uri).toContain(taskId);
  close();

  const states = tasksIn(messages).map(({ status }) => status as string);
  const changes = states.filter((status, index) => status !== states[index - 1]);
  // The work after the answer may be done before the next read.
  expect([changes.join(), changes.filter((_, at) => at !== changes.length - 2).join()]).toContain(
    'working,input_required,completed',
  );
  for (const { params } of messages) expect(params._meta[SUBSCRIPTION_ID]).toBe(subscriptionId);
});

test('a subscription to a terminal task notifies of its end at once, and stays open', async () => {
  const { client } = parts;
  const taskId = await client.start('slow_compute', { seconds: 0 });
  const done = plainTask(await client.until(taskId, 'completed'));
  const { messages, ended, close } = await subscribe(client, { taskIds: [taskId] });
  await eventually('the task', () => tasksIn(messages).length > 0);
  expect(tasksIn(messages)).toEqual([done]);
  expect(await Promise.race([ended, new Promise((settle) => setTimeout(settle, 500, 'open'))])).toBe('open');
  close();
});

test('a subscription follows cancellation, and progress without progress notifications', async () => {
  const { client } = parts;
  const taskId = await client.start('slow_compute', { seconds: 600 });
  const { messages, close } = await subscribe(client, { taskIds: [taskId] });
  await eventually('progress', () =>
    tasksIn(messages).some((task) => task._meta['longhaul/progress']?.progress > 1),
  );
  await client.request('tasks/cancel', { taskId });
  await eventually('its end', () => tasksIn(messages).some(({ status }) => status === 'cancelled'));
  expect(messages.filter(({ method }) => FORBIDDEN.includes(method!))).toEqual([]);
  const amounts = tasksIn(messages).flatMap(
    (task) => (task._meta['longhaul/progress']?.progress as number) ?? [],
  );
  expect(amounts).toEqual([...amounts].sort((one, other) => one - other));
  close();
});

const LISTEN = 'subscriptions/listen';

/** Posts a subscription request with the given headers and body. */
async function post(headers: Record<string, string | undefined>, body: unknown = wanted()) {
  const given = Object.entries({ ...parts.client.headers(LISTEN), ...headers }).filter(
    ([, value]) => value !== undefined,
  );
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await parts.client.post(text, Object.fromEntries(given) as Record<string, string>);
  return {
    status: response.status,
    ...((await response.json()) as { id: unknown; error: { code: number } }),
  };
}

function wanted() {
  return parts.client.envelope(LISTEN, { notifications: { taskIds: [] } });
}

test('task IDs need the extension; everything else does not', async () => {
  const missing = { requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } };
  for (const taskIds of [[], ['any']]) {
    const answer = await parts.client
      .with({ elicitation: {} })
      .request(LISTEN, { notifications: { taskIds } });
    expect(answer).toMatchObject({ httpStatus: 400, error: { code: -32021, data: missing } });
  }
  const stream = await parts.client.with({}).listen({ toolsListChanged: true });
  expect(stream.response.status).toBe(200);
  stream.close();
});

test.each([
  ['no filter', {}],
  ['a filter that is no object', { notifications: 'all' }],
  ['task IDs that are no list', { notifications: { taskIds: 'a' } }],
  ['task IDs that are no text', { notifications: { taskIds: [1] } }],
  ['an empty task ID', { notifications: { taskIds: [''] } }],
  ['more than a hundred task IDs', { notifications: { taskIds: Array.from({ length: 101 }, String) } }],
])('%s is refused with what was expected', async (_name, params) => {
  const answer = await parts.client.with(TASKS).request(LISTEN, params);
  expect(answer).toMatchObject({
    httpStatus: 200,
    error: { code: -32602, message: expect.stringMatching(/^params\.notifications.*expected/) },
  });
});

describe('headers', () => {
  test('that are missing or disagree with the body are refused', async () => {
    const refused = { status: 400, error: { code: -32020 } };
    expect(await post({ 'mcp-method': undefined })).toMatchObject(refused);
    expect(await post({ 'mcp-protocol-version': undefined })).toMatchObject(refused);
    expect(await post({ 'mcp-protocol-version': '2025-11-25' })).toMatchObject(refused);
    expect(await post({ 'mcp-method': 'tools/list' })).toMatchObject(refused);
    expect(await post({}, parts.client.envelope('tools/list'))).toMatchObject(refused);
  });

  test('and body of another revision are refused with the one that is spoken', async () => {
    const request = wanted();
    for (const version of ['2099-01-01', '2025-11-25']) {
      request.params._meta['io.modelcontextprotocol/protocolVersion'] = version;
      expect(await post({ 'mcp-protocol-version': version }, request)).toMatchObject({
        status: 400,
        id: request.id,
        error: { code: -32022, data: { supported: ['2026-07-28'], requested: version } },
      });
    }
  });

  test('of another content type are refused, before the body is looked at', async () => {
    for (const type of ['text/plain', 'application/jsonp', undefined])
      expect(await post({ 'content-type': type }, '{')).toMatchObject({ status: 415, id: null });
  });
});

test('bodies that are no request of this revision are refused', async () => {
  expect(await post({}, '{"jsonrpc":')).toMatchObject({ status: 400, id: null, error: { code: -32700 } });
  expect(await post({}, [wanted()])).toMatchObject({ status: 400, error: { code: -32600 } });
  expect(await post({}, { ...wanted(), id: null })).toMatchObject({ status: 400, error: { code: -32600 } });
  const bare = { jsonrpc: '2.0', id: 7, method: LISTEN, params: { notifications: {} } };
  expect(await post({}, bare)).toMatchObject({ status: 400, id: 7, error: { code: -32602 } });
});
