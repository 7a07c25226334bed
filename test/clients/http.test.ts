import { afterEach, beforeAll, expect, test } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  createTaskSessionFromClient,
  resultFromTaskOutcome,
  toolDeclarationFromMcpTool,
} from '@modelcontextprotocol/ext-tasks/client';
import { eventually, freePort } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';
import { extTasks } from './drivers.js';
import {
  CLIENT_INFO,
  MAIN_JOB,
  PROTOCOL_VERSION,
  TASKS_EXTENSION,
  closeClients,
  connect,
  expectMainResult,
} from './support.js';

const parts = await forAllTests(TestStack.shared());
const port = await freePort();
const other = parts.server({ LONGHAUL_PORT: String(port) });
const otherUrl = `http://127.0.0.1:${port}/mcp`;
beforeAll(async () => {
  await eventually('the other server is ready', () =>
    fetch(otherUrl.replace('/mcp', '/readyz')).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
});
afterEach(closeClients);

const http = (url = parts.client.url) =>
  new StreamableHTTPClientTransport(new URL(url), { fetch: fetchPlain });

/** Objects of Response.json() have another realm's prototypes in Jest, and ext-tasks accepts plain objects only. */
async function fetchPlain(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  return Object.assign(response, { json: async () => JSON.parse(await response.text()) as unknown });
}

test('ext-tasks drives the main job to its end over HTTP, and collects it again elsewhere', async () => {
  const { client, reference, result } = await extTasks.drive(http());
  await expectMainResult(result, client);

  const second = await extTasks.collect(http(otherUrl), reference);
  expect(second.structuredContent).toEqual(result.structuredContent);
  await expectMainResult(second, second.client);
  expect(other.process.exitCode).toBeNull();
});

test('discovery names the revision, the extension and the tools', async () => {
  const { client } = await connect(http());
  expect(client.getNegotiatedProtocolVersion()).toBe(PROTOCOL_VERSION);
  expect(client.getServerCapabilities()?.extensions).toEqual({ [TASKS_EXTENSION]: {} });
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('analyze_dataset');
});

async function connectOlder(): Promise<Client> {
  const client = new Client(CLIENT_INFO, {
    capabilities: { elicitation: { form: {} } },
    versionNegotiation: { mode: 'legacy' },
  });
  await client.connect(http());
  return client;
}

test('ext-tasks drives the main job as a task of 2025-11-25 to its end, and collects it again elsewhere', async () => {
  const client = await connectOlder();
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

  const elsewhere = await connectOlder();
  const later = createTaskSessionFromClient(elsewhere, { endpointId: 'longhaul' });
  const resumed = await later.resumeTask(reference);
  expect(envelope(resultFromTaskOutcome((await resumed.settle()).outcome))).toEqual(driven);
  await later.close();
  await Promise.all([client, elsewhere].map((one) => one.close()));
});

/** Calls a tool with the client's own validation against the published schema. */
async function call(client: Client, name: string, args: object): Promise<any> {
  const { structuredContent } = await client.callTool({ name, arguments: { ...args } });
  return structuredContent;
}

test('the official client, with plain tools alone, starts, looks, answers and collects by what next_action says', async () => {
  const { client } = await connect(http(), {});
  await client.listTools();
  const started = await call(client, 'confirm_delete', { filename: 'notes.txt' });
  const asked = await eventually('it asks', async () => {
    const { tool, args } = started.next_action;
    const seen = await call(client, tool, args);
    return seen.status === 'input_required' ? seen : undefined;
  });
  const { tool, args, question } = asked.next_action;
  expect([tool, question.message]).toEqual(['operation_answer', 'Delete notes.txt?']);
  await call(client, tool, { ...args, content: { confirm: true } });
  const { token } = started;
  const done = await eventually('it has ended', async () => {
    const seen = await call(client, 'operation_get', { token });
    return seen.next_action ? undefined : seen;
  });
  expect(done).toMatchObject({ status: 'completed', result: { answer: 'accept', deleted: ['notes.txt'] } });
});

test('the official client, with plain tools alone, lets the person answer in the middle of a call that waits', async () => {
  const { client } = await connect(http(), { elicitation: { form: {} } });
  await client.listTools();
  const asked: string[] = [];
  client.setRequestHandler('elicitation/create', ({ params }) => {
    asked.push(params.message);
    return { action: 'accept', content: { confirm: true } };
  });
  const progress: number[] = [];
  const done = await client.callTool(
    { name: 'confirm_delete', arguments: { filename: 'a', wait: true } },
    { onprogress: (one) => void progress.push(one.progress) },
  );
  expect(asked).toEqual(['Delete a?']);
  expect(done.structuredContent).toMatchObject({
    status: 'completed',
    result: { answer: 'accept', deleted: ['a'] },
  });
});
