import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { resolve } from 'node:path';
import { eventually } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { TestStack } from '../support/test-stack.js';
import { FORBIDDEN, plainTask, subscribe, SUBSCRIPTION_ID, tasksIn } from './support.js';

jest.setTimeout(PROCESSES_MS);

const AIRPORTS = resolve('node_modules/vega-datasets/data/flights-airport.csv');

let parts: TestStack;
beforeAll(async () => {
  parts = await TestStack.shared();
});
afterAll(() => parts?.stop());

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

test('concurrent subscriptions are distinguished by their IDs, and both are notified of a shared task', async () => {
  const { client } = parts;
  const [one, two] = await Promise.all([
    client.start('confirm_delete', { filename: 'one' }),
    client.start('confirm_delete', { filename: 'two' }),
  ]);
  const first = await subscribe(client, { taskIds: [one] });
  const both = await subscribe(client, { taskIds: [one, two] });
  const asked = (messages: typeof first.messages) =>
    new Set(
      tasksIn(messages).flatMap((task) => (task.status === 'input_required' ? [task.taskId as string] : [])),
    );
  await eventually(
    'all questions',
    () => asked(first.messages).size === 1 && asked(both.messages).size === 2,
  );
  expect(asked(first.messages)).toEqual(new Set([one]));
  first.close();
  await client.answer(one, 'input-1', { action: 'decline' });
  await eventually('the end', () => tasksIn(both.messages).some(({ status }) => status === 'completed'));
  expect(tasksIn(first.messages).some(({ status }) => status === 'completed')).toBe(false);
  both.close();
});
