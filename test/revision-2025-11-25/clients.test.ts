import { afterEach, describe, expect, test } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { forAllTests } from '../support/for-all-tests.js';
import { StdioServers } from '../support/stdio-servers.js';

/** Connects version 1 of the official client, as hosts use it. */
const stdio = await forAllTests(StdioServers.open());

const connected: Client[] = [];
afterEach(async () => {
  await Promise.all(connected.splice(0).map((client) => client.close()));
});

const transports: [string, () => Transport][] = [
  ['HTTP', () => new StreamableHTTPClientTransport(new URL(stdio.parts.client.url))],
  ['stdio', () => new StdioClientTransport({ ...stdio.server, stderr: 'ignore' })],
];

describe.each(transports)('over %s, the official client', (_name, transport) => {
  async function connect() {
    const asked: any[] = [];
    const client = new Client(
      { name: 'longhaul-tests', version: '1' },
      { capabilities: { elicitation: { form: {} } } },
    );
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      asked.push(params);
      return { action: 'accept', content: { confirm: true } };
    });
    connected.push(client);
    await client.connect(transport());
    return { client, asked };
  }

  test('waits, sees progress, and shows the question of a waiting call', async () => {
    const { client, asked } = await connect();
    await client.listTools();
    const seen: number[] = [];
    const waited: any = await client.callTool(
      { name: 'slow_compute', arguments: { seconds: 5, wait: true } },
      CallToolResultSchema,
      { onprogress: ({ progress }) => void seen.push(progress) },
    );
    expect(waited.structuredContent.status).toBe('completed');
    expect(seen.length).toBeGreaterThan(0);
    const deleted: any = await client.callTool({
      name: 'confirm_delete',
      arguments: { filename: 'notes.txt', wait: true },
    });
    expect(asked).toHaveLength(1);
    expect(deleted.structuredContent.result).toEqual({ answer: 'accept', deleted: ['notes.txt'] });
  });

  test('runs a task with a question to its end', async () => {
    const { client, asked } = await connect();
    await client.listTools();
    const types: string[] = [];
    let result: any;
    const stream = client.experimental.tasks.callToolStream(
      { name: 'confirm_delete', arguments: { filename: 'a.txt' } },
      CallToolResultSchema,
      { task: { ttl: 60_000 } },
    );
    for await (const message of stream) {
      types.push(message.type);
      if (message.type === 'error') throw message.error;
      if (message.type === 'result') result = message.result;
    }
    expect(types[0]).toBe('taskCreated');
    expect(asked).toHaveLength(1);
    expect(result.structuredContent.result).toEqual({ answer: 'accept', deleted: ['a.txt'] });
  });
});
