import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { StdioServers, type StdioProcess } from '../support/stdio-servers.js';
import { formOn, FORMS, initializeParams, RELATED_TASK } from './wire.js';

const stdio = await forAllTests(StdioServers.open());

let run: StdioProcess;
let lastId = 0;
beforeEach(() => {
  run = stdio.run();
});
afterEach(async () => {
  expect(await run.end()).toBe(0);
});

const message = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: ++lastId, method, params });
const send = (what: unknown) => run.send(what);
/** Messages received; a batch of answers is one. */
const received = () => run.messages();
const answerTo = (id: number) =>
  eventually(`an answer to ${id}`, () => received().find((one) => one.id === id));

async function request(method: string, params: object = {}): Promise<any> {
  const one = message(method, params);
  send(one);
  return answerTo(one.id);
}

async function initialize(version: string, capabilities: object = FORMS): Promise<any> {
  const { result } = await request('initialize', initializeParams(version, capabilities));
  send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return result;
}

const call = (name: string, args: object = {}, more: object = {}) =>
  request('tools/call', { name, arguments: args, ...more });

test('a client initializes, lists and waits', async () => {
  expect((await request('ping')).result).toEqual({});
  expect((await request('tools/list')).error.code).toBe(-32600);
  expect(await initialize('2025-11-25')).toMatchObject({ protocolVersion: '2025-11-25' });
  const { tools } = (await request('tools/list')).result;
  expect(tools.map(({ name }: any) => name)).toEqual(
    expect.arrayContaining(['slow_compute', 'operation_get']),
  );
  const { result } = await call('slow_compute', { seconds: 1, wait: true }, { _meta: { progressToken: 1 } });
  expect(result.structuredContent.status).toBe('completed');
});

test('questions come and are answered on the same connection', async () => {
  await initialize('2025-11-25');
  const one = message('tools/call', { name: 'confirm_delete', arguments: { filename: 'a', wait: true } });
  send(one);
  const asked = await formOn(run);
  send({ jsonrpc: '2.0', id: 'made up', result: { action: 'accept' } });
  send({ jsonrpc: '2.0', id: asked.id, result: { action: 'accept', content: { confirm: true } } });
  expect((await answerTo(one.id)).result.structuredContent.result.answer).toBe('accept');
});

test('tasks are notified, ask on tasks/result, and are cancelled', async () => {
  await initialize('2025-11-25');
  const { task } = (
    await call('confirm_delete', { filename: 'a' }, { task: {}, _meta: { progressToken: 't' } })
  ).result;
  const notified = () =>
    received().filter(({ method, params }) => /tasks\/status$/.test(method) && params.taskId === task.taskId);
  await eventually('it is notified', () =>
    notified().some(({ params }) => params.status === 'input_required'),
  );
  const result = message('tasks/result', { taskId: task.taskId });
  send(result);
  const asked = await formOn(run);
  expect(asked.params._meta[RELATED_TASK]).toEqual({ taskId: task.taskId });
  expect((await request('tasks/cancel', { taskId: task.taskId })).result.status).toBe('cancelled');
  expect((await answerTo(result.id)).result).toMatchObject({ isError: true });
  await eventually('the cancel is notified', () => notified().at(-1)?.params.status === 'cancelled');
});

test('a wait that the client cancels ends without an answer, and the work continues', async () => {
  await initialize('2025-06-18');
  const key = { idempotency_key: randomUUID() };
  const waiting = message('tools/call', {
    name: 'slow_compute',
    arguments: { seconds: 600, wait: true, ...key },
  });
  send(waiting);
  const again = await call('slow_compute', { seconds: 600, wait: false, ...key });
  const { token } = again.result.structuredContent;
  send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: waiting.id } });
  const { result } = await call('operation_get', { token });
  expect(['queued', 'running']).toContain(result.structuredContent.status);
  await call('operation_cancel', { token });
  expect(received().some(({ id }) => id === waiting.id)).toBe(false);
});

test('batches of 2025-03-26 are answered together; other versions have none', async () => {
  await initialize('2025-03-26');
  const batch = [message('ping'), message('tools/list'), message('nonesuch')];
  send([...batch, { jsonrpc: '2.0', method: 'notifications/initialized' }]);
  const answers = await eventually('a batch of answers', () => received().find(Array.isArray));
  expect(answers.map(({ id }: any) => id).sort()).toEqual(batch.map(({ id }) => id).sort());
  send([]);
  await eventually('a refusal', () =>
    received().find(({ id, error }) => id === null && error.code === -32600),
  );
  expect((await request('ping')).result).toEqual({});
});

test('a client that asks for the current revision gets it, and one that initializes after server/discover gets 2025-11-25', async () => {
  const discover = { ...stdio.parts.client.envelope('server/discover'), id: ++lastId };
  send(discover);
  expect((await answerTo(discover.id)).result).toHaveProperty('supportedVersions');
  expect(await initialize('2025-11-25')).toMatchObject({ protocolVersion: '2025-11-25' });
  send([message('ping')]);
  await eventually('a refusal', () =>
    received().find(({ id, error }) => id === null && error.code === -32600),
  );
});
