import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  createTaskSessionFromClient,
  resultFromTaskOutcome,
  toolDeclarationFromMcpTool,
} from '@modelcontextprotocol/ext-tasks/client';
import { PROCESSES_MS } from '../support/limits.js';
import { TestStack } from '../support/test-stack.js';
import { CLIENT_INFO, expectMainResult, MAIN_JOB } from './support.js';

jest.setTimeout(PROCESSES_MS);

let parts: TestStack;
const clients: Client[] = [];
beforeAll(async () => {
  parts = await TestStack.shared();
});
afterEach(() => Promise.all(clients.splice(0).map((client) => client.close())));
afterAll(() => parts?.stop());

/** Objects of Response.json() have another realm's prototypes in Jest, and ext-tasks accepts plain objects only. */
async function fetchPlain(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  return Object.assign(response, { json: async () => JSON.parse(await response.text()) as unknown });
}

async function connect(): Promise<Client> {
  const client = new Client(CLIENT_INFO, {
    capabilities: { elicitation: { form: {} } },
    versionNegotiation: { mode: 'legacy' },
  });
  clients.push(client);
  await client.connect(new StreamableHTTPClientTransport(new URL(parts.client.url), { fetch: fetchPlain }));
  return client;
}

test('ext-tasks drives the main job as a task of 2025-11-25 to its end, and collects it again elsewhere', async () => {
  const client = await connect();
  expect(client.getNegotiatedProtocolVersion()).toBe('2025-11-25');
  const asked: unknown[] = [];
  const session = createTaskSessionFromClient(client, {
    endpointId: 'longhaul',
    onInputRequest: async (request) => {
      asked.push(request.params);
      return { action: 'accept', content: { write: true } } as never;
    },
  });
  const { tools } = await client.listTools();
  const tool = tools.find(({ name }) => name === 'analyze_dataset')!;
  const execution = await session.callTool('analyze_dataset', MAIN_JOB, {
    declaration: toolDeclarationFromMcpTool(tool),
    task: { preference: 'require' },
  });
  if (execution.kind !== 'task') throw new Error(`it is ${execution.kind}`);
  const said: (string | undefined)[] = [];
  const { outcome, lastTask } = await execution.settle({
    onEvent: (event) => void (event.type === 'task' && said.push(event.task.statusMessage)),
  });
  expect(said.some((message) => message?.startsWith('profile'))).toBe(true);
  expect(asked).toEqual([expect.objectContaining({ message: expect.stringContaining('Write it?') })]);
  expect(lastTask?.status).toBe('completed');
  const envelope = (result: unknown) =>
    (result as { structuredContent: { result: unknown } }).structuredContent;
  const driven = envelope(resultFromTaskOutcome(outcome));
  await expectMainResult({ structuredContent: driven.result }, client);
  const reference = execution.serializeReference();
  await session.close();

  const elsewhere = await connect();
  const later = createTaskSessionFromClient(elsewhere, { endpointId: 'longhaul' });
  const resumed = await later.resumeTask(reference);
  expect(envelope(resultFromTaskOutcome((await resumed.settle()).outcome))).toEqual(driven);
  await later.close();
});
