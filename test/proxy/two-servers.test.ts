import { randomUUID } from 'node:crypto';
import { afterEach, expect, test } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { WireClient } from '../support/mcp.js';
import { TwoServers } from './support.js';

const clients: Client[] = [];
const two = await forAllTests(TwoServers.start());
afterEach(() => Promise.all(clients.splice(0).map((client) => client.close())));

/** The official client of the older revisions, which resumes an interrupted stream. */
async function connect() {
  const transport = new StreamableHTTPClientTransport(new URL(two.proxy.url), {
    reconnectionOptions: {
      initialReconnectionDelay: 200,
      maxReconnectionDelay: 1_000,
      reconnectionDelayGrowFactor: 1.5,
      maxRetries: 60,
    },
  });
  const client = new Client({ name: 'longhaul-tests', version: '1' }, { capabilities: {} });
  await client.connect(transport);
  clients.push(client);
  return { client, transport };
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
    const { result } = await client.call('operation_list', { idempotency_key: key, tool: 'slow_compute' });
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
