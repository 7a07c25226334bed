import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { eventually, freePort } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { TestStack, type Part } from '../support/test-stack.js';
import { extTasks, officialClient } from './drivers.js';
import { closeClients, connect, expectMainResult, PROTOCOL_VERSION, TASKS_EXTENSION } from './support.js';

jest.setTimeout(PROCESSES_MS);

let parts: TestStack;
let otherUrl: string;
let other: Part;
beforeAll(async () => {
  parts = await TestStack.shared();
  const port = await freePort();
  other = parts.server({ LONGHAUL_PORT: String(port) });
  otherUrl = `http://127.0.0.1:${port}/mcp`;
  await eventually('the other server is ready', () =>
    fetch(otherUrl.replace('/mcp', '/readyz')).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
});
afterEach(closeClients);
afterAll(() => parts?.stop());

const http = (url = parts.client.url) =>
  new StreamableHTTPClientTransport(new URL(url), { fetch: fetchPlain });

/** Objects of Response.json() have another realm's prototypes in Jest, and ext-tasks accepts plain objects only. */
async function fetchPlain(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  return Object.assign(response, { json: async () => JSON.parse(await response.text()) as unknown });
}

describe.each([
  ['the official client', officialClient],
  ['ext-tasks', extTasks],
])('over HTTP, %s', (_name, { drive, collect }) => {
  test('drives the main job to its end, and collects it again elsewhere', async () => {
    const { client, reference, result } = await drive(http());
    await expectMainResult(result, client);

    const second = await collect(http(), reference);
    expect(second.structuredContent).toEqual(result.structuredContent);

    const third = await collect(http(otherUrl), reference);
    expect(third.structuredContent).toEqual(result.structuredContent);
    await expectMainResult(third, third.client);
    expect(other.process.exitCode).toBeNull();
  });
});

describe('discovery', () => {
  test('names the revision, the extension and the tools', async () => {
    const { client } = await connect(http());
    expect(client.getNegotiatedProtocolVersion()).toBe(PROTOCOL_VERSION);
    expect(client.getServerCapabilities()?.extensions).toEqual({ [TASKS_EXTENSION]: {} });
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('analyze_dataset');
  });

  test('of a client without the extension gives it plain tools instead', async () => {
    const { client } = await connect(http(), { elicitation: { form: {} } });
    const { tools } = await client.listTools();
    const { inputSchema, outputSchema } = tools.find(({ name }) => name === 'analyze_dataset')!;
    expect(Object.keys(inputSchema.properties!)).toEqual(
      expect.arrayContaining(['path', 'wait', 'timeout', 'idempotency_key']),
    );
    expect(Object.keys(outputSchema!.properties!)).toEqual(expect.arrayContaining(['token', 'status']));
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['operation_get', 'operation_answer', 'operation_cancel']),
    );
  });
});
