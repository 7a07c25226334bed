import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { SdkError, StreamableHTTPClientTransport, type Client } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { eventually, freePort } from '../stack/cli-process.js';
import { Parts } from '../support/parts.js';
import {
  CLIENT_INFO,
  connect,
  DATA_FOLDERS,
  expectMainResult,
  MAIN_JOB,
  PROTOCOL_VERSION,
  TASKS_EXTENSION,
} from './support.js';

jest.setTimeout(240_000);

const CAPABILITIES = { elicitation: { form: {} }, extensions: { [TASKS_EXTENSION]: {} } };
const anything = z.looseObject({});

let parts: Parts;
beforeAll(async () => {
  parts = await Parts.start(DATA_FOLDERS);
});
afterAll(() => parts?.stop());

const http = (url = parts.client.url) => new StreamableHTTPClientTransport(new URL(url));

interface SeenTask {
  taskId: string;
  status: string;
  statusMessage?: string;
  inputRequests?: Record<string, { method: string; params: { message: string } }>;
  result?: { structuredContent?: unknown };
}

async function get(client: Client, taskId: string): Promise<SeenTask> {
  const task = await client.request({ method: 'tasks/get', params: { taskId } }, anything);
  return task as unknown as SeenTask;
}

describe('the official client', () => {
  test('drives the main job to its end, and others collect it from this and another server', async () => {
    const { client, transport } = await connect(http(), CAPABILITIES);
    expect(client.getNegotiatedProtocolVersion()).toBe(PROTOCOL_VERSION);
    expect(client.getServerCapabilities()?.extensions).toHaveProperty([TASKS_EXTENSION]);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('analyze_dataset');

    // The one step that its codec refuses, an answer that is a task, goes past it.
    const started = await transport.dispatch({
      method: 'tools/call',
      params: {
        name: 'analyze_dataset',
        arguments: MAIN_JOB,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': PROTOCOL_VERSION,
          'io.modelcontextprotocol/clientInfo': CLIENT_INFO,
          'io.modelcontextprotocol/clientCapabilities': CAPABILITIES,
        },
      },
    });
    const { taskId } = (started as { result: SeenTask }).result;

    const seen: SeenTask[] = [];
    client.setNotificationHandler('notifications/tasks', { params: anything }, (params) => {
      seen.push(params as unknown as SeenTask);
    });
    const subscription = await client.listen({ taskIds: [taskId] } as never);

    const asking = await eventually('it asks', () => seen.find(({ status }) => status === 'input_required'), 120_000);
    expect(seen[0]?.status).toBe('working');
    expect(seen.some(({ statusMessage }) => statusMessage?.startsWith('profile'))).toBe(true);
    const [[key, question]] = Object.entries(asking.inputRequests!) as [[string, { method: string }]];
    expect(question.method).toBe('elicitation/create');
    const inputResponses = { [key]: { action: 'accept', content: { write: true } } };
    await client.request({ method: 'tasks/update', params: { taskId, inputResponses } }, anything);

    const done = await eventually('it is done', () => seen.find(({ status }) => status === 'completed'), 60_000);
    await subscription.close();
    await expectMainResult(done.result!, client);
    await client.close();

    const second = await connect(http(), CAPABILITIES);
    const again = await get(second.client, taskId);
    expect(again.result).toEqual(done.result);
    await second.client.close();

    const port = await freePort();
    const server = parts.server({ LONGHAUL_PORT: String(port) });
    const base = `http://127.0.0.1:${port}`;
    await eventually('the second server', () => fetch(`${base}/readyz`).then(({ ok }) => ok, () => false));
    const third = await connect(http(`${base}/mcp`), CAPABILITIES);
    await expectMainResult((await get(third.client, taskId)).result!, third.client);
    await third.client.close();
    await server.end();
  });
});
