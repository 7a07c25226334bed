import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { ElicitRequestSchema, type CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { eventually } from '../stack/cli-process.js';
import { STACK_MS } from '../support/limits.js';
import { WireClient } from '../support/mcp.js';
import { olderClient, rawSession, TwoServers } from './support.js';

jest.setTimeout(STACK_MS);

let two: TwoServers;
const clients: Client[] = [];
beforeAll(async () => {
  two = await TwoServers.start();
});
afterEach(() => Promise.all(clients.splice(0).map((client) => client.close())));
afterAll(() => two?.stop());

async function connect() {
  const connected = await olderClient(two.proxy.url);
  clients.push(connected.client);
  return connected;
}

test('a session continues while each server is killed in turn', async () => {
  const { client, transport } = await connect();
  const { sessionId } = transport;
  for (const port of two.ports) {
    await two.kill(port);
    for (let call = 0; call < 3; call += 1) {
      const { content } = (await client.callTool({
        name: 'greet',
        arguments: { name: 'Ada' },
      })) as CallToolResult;
      expect(content).toEqual([expect.objectContaining({ text: expect.stringContaining('Hello, Ada!') })]);
    }
    await two.restart(port);
  }
  expect(transport.sessionId).toBe(sessionId);
});

test('a blocked wait continues at the other server, twice, with progress that never decreases', async () => {
  const { client } = await connect();
  const key = randomUUID();
  const seen: number[] = [];
  const call = client.callTool(
    { name: 'slow_compute', arguments: { seconds: 25, label: key, wait: true, idempotency_key: key } },
    undefined,
    { timeout: 120_000, onprogress: ({ progress }) => seen.push(progress) },
  );
  await eventually('there is progress', () => seen.length > 0);
  const first = await two.killServing(key);
  const before = seen.length;
  await eventually('there is progress again', () => seen.length > before);
  await two.restart(first);
  const [second] = two.ports.filter((port) => port !== first);
  await two.kill(second!);
  const { structuredContent } = (await call) as CallToolResult;
  await two.restart(second!);
  expect(structuredContent).toMatchObject({ status: 'completed', result: { label: key } });
  expect(seen).toEqual(seen.toSorted((one, other) => one - other));
});

test('a question that one server asked is answered through the other, and the call continues', async () => {
  const { client } = await connect();
  const filename = `${randomUUID()}.txt`;
  const asked: string[] = [];
  let answer = () => {};
  const mayAnswer = new Promise<void>((resolve) => (answer = resolve));
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
    asked.push(params.message);
    await mayAnswer;
    return { action: 'accept', content: { confirm: true } };
  });
  const call = client.callTool({ name: 'confirm_delete', arguments: { filename, wait: true } }, undefined, {
    timeout: 120_000,
  });
  await eventually('the question is there', () => asked.length > 0);
  const killed = await two.killServing(filename);
  answer();
  const { structuredContent } = (await call) as CallToolResult;
  await two.restart(killed);
  expect(asked[0]).toBe(`Delete ${filename}?`);
  expect(structuredContent).toMatchObject({ status: 'completed', result: { deleted: [filename] } });
});

test('a broken stream is taken up by its last event ID, and ends with the response of the same request', async () => {
  const session = await rawSession(two.proxy.url);
  const label = randomUUID();
  const started = await session.request('tools/call', {
    name: 'slow_compute',
    arguments: { seconds: 15, label },
    task: {},
  });
  const { taskId } = started.result.task;
  const stream = await session.open('tasks/result', { taskId });
  await eventually('it has an event ID', () => stream.lastEventId());
  const killed = await two.killServing(taskId);
  await stream.ended;
  expect(stream.messages).toEqual([]);

  const rest = await session.resume(stream.lastEventId()!);
  await rest.ended;
  await two.restart(killed);
  expect(rest.messages.at(-1)).toMatchObject({
    id: stream.requestId,
    result: {
      structuredContent: { token: taskId, status: 'completed', result: { label } },
      _meta: { 'io.modelcontextprotocol/related-task': { taskId } },
    },
  });
});

test("a session's own stream notifies of its tasks again after the server that held it was killed", async () => {
  const session = await rawSession(two.proxy.url);
  const stream = await session.listen();
  const { result } = await session.request('tools/call', {
    name: 'confirm_delete',
    arguments: { filename: 'a.txt' },
    task: {},
  });
  const { taskId } = result.task;
  const isNotified = (messages: any[], status: string) =>
    messages.some(({ method, params }) => {
      return method === 'notifications/tasks/status' && params.taskId === taskId && params.status === status;
    });
  await eventually('the stream notifies of it', () => isNotified(stream.messages, 'input_required'));
  const { port } = two.proxy.exchanges.findLast(({ method, isOpen }) => method === 'GET' && isOpen)!;
  await two.kill(port);
  await stream.ended;

  const again = await session.listen();
  await session.request('tasks/cancel', { taskId });
  await eventually('the new stream notifies of its end', () => isNotified(again.messages, 'cancelled'));
  again.close();
  await two.restart(port);
});

test('a call of 2026-07-28 that was cut off is repeated under its key, and waits for the same operation', async () => {
  const client = new WireClient(two.proxy.url, {});
  const key = randomUUID();
  const call = () =>
    client.request('tools/call', {
      name: 'slow_compute',
      arguments: { seconds: 12, label: key, wait: true, idempotency_key: key },
      _meta: { progressToken: key },
    });
  const cutOff = call().then(
    ({ result }) => result,
    () => undefined,
  );
  const token = await eventually('it runs', async () => {
    const { result } = await client.request('tools/call', {
      name: 'operation_list',
      arguments: { idempotency_key: key, tool: 'slow_compute' },
    });
    return result?.structuredContent?.operations?.[0]?.token as string | undefined;
  });
  const killed = await two.killServing(key);
  expect(await cutOff).toBeUndefined();
  const { result } = await call();
  await two.restart(killed);
  expect(result.structuredContent).toMatchObject({ token, status: 'completed', result: { label: key } });
});

test('a question of 2026-07-28 that one server returned is answered at the other', async () => {
  const client = new WireClient(two.proxy.url, { elicitation: {} });
  const params = { name: 'confirm_delete', arguments: { filename: 'b.txt', wait: true } };
  const { result: asked } = await client.request('tools/call', params);
  expect(asked.resultType).toBe('input_required');
  const [key] = Object.keys(asked.inputRequests);
  const { port } = two.proxy.exchanges.findLast(({ body }) => body.includes('b.txt'))!;
  await two.kill(port);
  const { result } = await client.request('tools/call', {
    ...params,
    requestState: asked.requestState,
    inputResponses: { [key!]: { action: 'accept', content: { confirm: true } } },
  });
  await two.restart(port);
  expect(result.structuredContent).toMatchObject({ status: 'completed', result: { deleted: ['b.txt'] } });
});
