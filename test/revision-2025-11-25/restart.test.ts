import { expect, test } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, CreateTaskResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { eventually, kill, TestHome } from '../stack/cli-process.js';
import { forAllTests, inSetUp } from '../support/for-all-tests.js';
import { FIXTURES } from '../support/test-stack.js';

const home = await forAllTests(TestHome.create());
await inSetUp(home.up({ LONGHAUL_PROJECT: FIXTURES }));

const LIMIT_MS = 120_000;

/** Connects the official client, which makes two attempts to resume a broken stream, at the interval of `retry`. */
async function connect(): Promise<Client> {
  const client = new Client({ name: 'longhaul-tests', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${home.url}/mcp`)));
  return client;
}

test('a wait and tasks/result that were blocked when the supervised server was killed get their results', async () => {
  const client = await connect();
  const { task }: any = await client.request(
    { method: 'tools/call', params: { name: 'slow_compute', arguments: { seconds: 15 }, task: {} } },
    CreateTaskResultSchema,
  );
  const underWay = new Set<string>();
  const waiting: Promise<any>[] = [
    client.callTool(
      { name: 'slow_compute', arguments: { seconds: 15, label: 'killed', wait: true, timeout: 100 } },
      CallToolResultSchema,
      { timeout: LIMIT_MS, onprogress: () => void underWay.add('call') },
    ),
    client.request({ method: 'tasks/result', params: { taskId: task.taskId } }, CallToolResultSchema, {
      timeout: LIMIT_MS,
      onprogress: () => void underWay.add('task'),
    }),
  ];
  for (const one of waiting) one.catch(() => undefined);
  await eventually('both wait', () => underWay.size === 2);
  kill(home.parts().server);
  const [call, result] = await Promise.all(waiting);
  expect(call.structuredContent).toMatchObject({ status: 'completed', result: { label: 'killed' } });
  expect(result.structuredContent.result).toMatchObject({ primes: expect.any(Number) });
  await client.close();
});
