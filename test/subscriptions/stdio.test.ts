import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { TASKS } from '../support/mcp.js';
import { StdioServers, type StdioProcess } from '../support/stdio-servers.js';
import { FORBIDDEN, plainTask, SUBSCRIPTION_ID, tasksIn, type Message } from './support.js';

const stdio = await forAllTests(StdioServers.open());
const http = stdio.parts.client;

let run: StdioProcess;
beforeEach(() => {
  run = stdio.run();
});
afterEach(() => run.end());

const send = (message: object) => run.send(message);

function listen(id: number | string, notifications: object, client = http): void {
  send({ ...client.envelope('subscriptions/listen', { notifications }), id });
}

/** Complete messages received, of one subscription or of all. */
function received(subscriptionId?: number | string): Message[] {
  const messages: Message[] = run.messages();
  const idOf = ({ params, result }: Message) => (params ?? result)?._meta?.[SUBSCRIPTION_ID] as unknown;
  return subscriptionId === undefined
    ? messages
    : messages.filter((message) => idOf(message) === subscriptionId);
}

function answerTo(id: number | string): Promise<Message & { error?: object }> {
  return eventually(`an answer to ${id}`, () => received().find((message) => message.id === id));
}

const statesOf = (id: number | string) => tasksIn(received(id)).map(({ status }) => status as string);

test('two subscriptions on one connection are distinguished, and cancelling one ends only that one', async () => {
  const [one, two] = await Promise.all([
    http.start('confirm_delete', { filename: 'one' }),
    http.start('confirm_delete', { filename: 'two' }),
  ]);
  listen('first', { taskIds: [one] });
  listen(2, { taskIds: [two, 'no-such-task', one] });
  await eventually('questions', () => statesOf('first').includes('input_required'));
  await eventually(
    'questions',
    () => new Set(tasksIn(received(2)).map(({ taskId }) => taskId as string)).size === 2,
  );
  expect(received('first')[0]).toMatchObject({
    method: 'notifications/subscriptions/acknowledged',
    params: { notifications: { taskIds: [one] } },
  });
  expect(received(2)[0]).toMatchObject({
    method: 'notifications/subscriptions/acknowledged',
    params: { notifications: { taskIds: [two, one] } },
  });
  expect(tasksIn(received('first')).at(-1)).toEqual(plainTask(await http.get(one)));

  send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'first' } });
  // Messages are handled in order: once this is answered, the cancellation has been handled.
  send({ ...http.envelope('tasks/get', { taskId: one }), id: 3 });
  await answerTo(3);
  const before = received('first').length;
  await http.answer(one, 'input-1', { action: 'decline' });
  await eventually('the end', () =>
    tasksIn(received(2)).some(({ taskId, status }) => taskId === one && status === 'completed'),
  );
  expect(received('first')).toHaveLength(before);
  expect(received().some(({ id }) => id === 'first')).toBe(false);

  await http.answer(two, 'input-1', { action: 'accept', content: { confirm: true } });
  const done = await eventually('the other end', () =>
    tasksIn(received(2)).find(({ taskId, status }) => taskId === two && status === 'completed'),
  );
  expect(done).toEqual(plainTask(await http.get(two)));
  expect(received().filter(({ method }) => FORBIDDEN.includes(method!))).toEqual([]);
});

test('a subscription that is cancelled at once says nothing after that', async () => {
  const taskId = await http.start('confirm_delete', { filename: 'a' });
  listen(1, { taskIds: [taskId] });
  send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
  listen(2, { taskIds: [taskId] });
  await eventually('the other one', () => statesOf(2).length > 0);
  expect(received(1)).toEqual([]);
});

test('an invalid request is answered under its ID, and the connection continues', async () => {
  listen(1, { taskIds: ['any'] }, http.with({}));
  expect(await answerTo(1)).toMatchObject({
    error: {
      code: -32021,
      data: { requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } },
    },
  });
  listen(2, { taskIds: 'any' });
  expect(await answerTo(2)).toMatchObject({ error: { code: -32602 } });
  send({ jsonrpc: '2.0', id: 3, method: 'subscriptions/listen', params: { notifications: {} } });
  expect(await answerTo(3)).toMatchObject({ error: { code: -32602 } });
  const other = http.envelope('subscriptions/listen', { notifications: {} });
  other.params._meta['io.modelcontextprotocol/protocolVersion'] = '2099-01-01';
  send({ ...other, id: 4 });
  expect(await answerTo(4)).toMatchObject({ error: { code: -32022, data: { supported: ['2026-07-28'] } } });
  listen(5, { taskIds: [] }, http.with(TASKS));
  await eventually('an acknowledgment', () => received(5).length > 0);
});

test('on SIGTERM each open subscription gets its result', async () => {
  const taskId = await http.start('confirm_delete', { filename: 'a' });
  listen('a', { taskIds: [taskId] });
  listen(7, {});
  await eventually('the task', () => statesOf('a').length > 0 && received(7).length > 0);
  run.process.kill('SIGTERM');
  expect(await run.ended).toBe(0);
  for (const id of ['a', 7]) {
    const result = { resultType: 'complete', _meta: { [SUBSCRIPTION_ID]: id } };
    expect(received(id).at(-1)).toEqual({ jsonrpc: '2.0', id, result });
  }
});
