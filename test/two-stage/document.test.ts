/** The document's own example, step by step, over stdio and over HTTP. */
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { eventually, TestHome } from '../stack/cli-process.js';
import { STACK_MS } from '../support/limits.js';
import { HttpClient, StdioClient, notificationsOf, type TwoStageClient } from './client.js';

jest.setTimeout(STACK_MS);

const FILES = 490;
const EMPTY = 10;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;

let home: TestHome;
let folder: string;
beforeAll(async () => {
  home = await TestHome.create();
  folder = join(home.path, 'to-sync');
  mkdirSync(join(folder, 'deeper'), { recursive: true });
  for (let index = 0; index < FILES + EMPTY; index += 1)
    writeFileSync(join(folder, index % 2 ? 'deeper' : '', `${index}.txt`), index < EMPTY ? '' : `${index}`);
  await home.up({ LONGHAUL_PROJECT: resolve('test/two-stage/project') });
});
afterAll(() => home?.remove());

const overHttp = async () => {
  const client = await HttpClient.open(`${home.url}/mcp`);
  await client.listen();
  return client;
};
const overStdio = () =>
  StdioClient.open([process.execPath, resolve('dist/bin/longhaul.js'), 'stdio'], {
    ...Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^(TEMPORAL|LONGHAUL)_/.test(name)),
    ),
    NODE_OPTIONS: '',
    LONGHAUL_HOME: home.path,
    LONGHAUL_PORT: String(home.port),
    LONGHAUL_PROJECT: resolve('test/two-stage/project'),
  });

describe.each([
  ['stdio', overStdio],
  ['HTTP', overHttp],
] as [string, () => Promise<TwoStageClient>][])('over %s', (transport, open) => {
  let client: TwoStageClient;
  let called: any;
  let jobId: string;
  let polledWhileRunning: any;
  beforeAll(async () => {
    client = await open();
    called = await client.request('tools/call', {
      name: 'wksm_monitor_sync',
      arguments: { path: folder, recursive: true },
    });
    jobId = called.result?.data?.job_id;
    polledWhileRunning = await client.request('tools/poll_result', { job_id: jobId });
    await eventually('the result comes', () => notificationsOf(client, jobId).results[0]);
  });
  afterAll(() => client?.close());

  test('the server declares the opt-in', () => {
    expect(client.initialized.result.capabilities.experimental).toEqual({ asyncTools: {}, twoStage: {} });
  });

  test('tools say that they support it', async () => {
    const { tools } = (await client.request('tools/list')).result;
    const sync = tools.find(({ name }: any) => name === 'wksm_monitor_sync');
    expect(sync).toMatchObject({
      async: true,
      description: expect.stringContaining('Sync files to monitor database'),
    });
    expect(sync.description).toContain('experimental.twoStage');
    expect(sync.inputSchema.properties).toHaveProperty('path');
    expect(tools.find(({ name }: any) => name === 'operation_get')).not.toHaveProperty('async');
  });

  describe('stage 1, the immediate response', () => {
    test('answers the request', () => {
      expect(called).toMatchObject({ jsonrpc: '2.0', id: expect.any(Number) });
      expect(called).not.toHaveProperty('error');
    });

    test('has of the job what the document names, the method that cancels, how long it is kept, and nothing else', () => {
      const named = ['estimated_runtime_seconds', 'job_id', 'poll_endpoint', 'status'];
      const fields = [...named, 'cancel_endpoint', 'keep_alive_seconds'];
      expect(Object.keys(called.result.data).sort()).toEqual(fields.sort());
    });

    test('says success', () => expect(called.result.success).toBe(true));

    test('names the job', () => expect(jobId).toMatch(/^\S{16,}$/));

    test('estimates the time in seconds', () => {
      expect(called.result.data.estimated_runtime_seconds).toBeGreaterThan(0);
    });

    test('is queued or running', () => expect(['queued', 'running']).toContain(called.result.data.status));

    test('names the method to poll', () => {
      expect(called.result.data.poll_endpoint).toBe('tools/poll_result');
    });

    test('names the method that cancels', () => {
      expect(called.result.data.cancel_endpoint).toBe('tools/cancel_job');
    });

    test('explains itself in an info message', () => {
      const [message, ...more] = called.result.messages;
      expect(message).toEqual({ type: 'info', text: expect.stringMatching(/Estimated runtime: \d+ s/) });
      expect(more).toEqual([]);
    });

    test('comes before the work is done', () => {
      expect(['queued', 'running']).toContain(polledWhileRunning.result.data.status);
    });

    test('is a result of MCP too', () => {
      const { content, structuredContent, success, data, messages } = called.result;
      expect(content).toEqual([{ type: 'text', text: messages[0].text }]);
      expect(structuredContent).toEqual({ success, data, messages });
    });

    test('has the job and the estimate in the fields of its own that results got', () => {
      const { job_id, estimated_runtime_seconds } = called.result.data;
      expect(called.result).toMatchObject({ job_id, estimated_runtime_seconds });
    });
  });

  describe('stage 2, progress', () => {
    const notified = () => notificationsOf(client, jobId).progress;

    test('comes as notifications without an ID', () => {
      expect(notified().length).toBeGreaterThan(1);
      const raw = client.notifications.filter(({ method }) => method === 'notifications/progress');
      for (const one of raw) expect(Object.keys(one).sort()).toEqual(['jsonrpc', 'method', 'params']);
    });

    test('has job_id, progress, message and timestamp', () => {
      for (const params of notified()) {
        expect(Object.keys(params).sort()).toEqual(['job_id', 'message', 'progress', 'timestamp']);
        expect(params.message).toEqual(expect.any(String));
        expect(params.timestamp).toMatch(TIME);
      }
    });

    test('is a share from 0 to 1 that never goes back', () => {
      const shares = notified().map(({ progress }: any) => progress);
      expect(Math.min(...shares)).toBeGreaterThanOrEqual(0);
      expect(Math.max(...shares)).toBeLessThanOrEqual(1);
      expect([...shares].sort((a, b) => a - b)).toEqual(shares);
      expect(new Set(shares).size).toBeGreaterThan(1);
    });

    test('says in words what is done', () => {
      expect(notified().some(({ message }: any) => /Processing \d+ of 500 files\.\.\./.test(message))).toBe(
        true,
      );
    });
  });

  describe('stage 3, the final result', () => {
    const result = () => notificationsOf(client, jobId).results[0];

    test('comes once, as a notification without an ID', () => {
      const raw = client.notifications.filter(({ method }) => method === 'notifications/tool_result');
      expect(raw).toHaveLength(1);
      expect(Object.keys(raw[0]).sort()).toEqual(['jsonrpc', 'method', 'params']);
    });

    test('comes after all progress', () => {
      const methods = client.notifications.map(({ method }) => method);
      expect(methods.indexOf('notifications/tool_result')).toBe(methods.length - 1);
    });

    test('has job_id, result and timestamp', () => {
      expect(Object.keys(result()).sort()).toEqual(['job_id', 'result', 'timestamp']);
      expect(result().timestamp).toMatch(TIME);
    });

    test('has success, the data of the tool and messages', () => {
      expect(result().result).toMatchObject({
        success: true,
        data: { files_processed: FILES, files_skipped: EMPTY, duration_seconds: expect.any(Number) },
        messages: [{ type: 'info', text: expect.stringContaining('completed') }],
      });
    });

    test('has the job and the estimate, and is a result of MCP too', () => {
      const { data, structuredContent, content } = result().result;
      const { estimated_runtime_seconds } = called.result.data;
      expect(result().result).toMatchObject({ job_id: jobId, estimated_runtime_seconds });
      expect(structuredContent).toEqual(data);
      expect(content[0]).toMatchObject({ type: 'text' });
    });
  });

  describe('polling', () => {
    test('says running, with the share that is done', () => {
      const { success, data } = polledWhileRunning.result;
      expect(success).toBe(true);
      expect(data.job_id).toBe(jobId);
      expect(data.progress).toBeGreaterThanOrEqual(0);
      expect(data.progress).toBeLessThanOrEqual(1);
    });

    test('says complete, with the result that was notified, as often as it is asked', async () => {
      const { estimated_runtime_seconds } = called.result.data;
      const notified = notificationsOf(client, jobId).results[0];
      for (const _time of ['once', 'again']) {
        const { result } = await client.request('tools/poll_result', { job_id: jobId });
        expect(result.success).toBe(true);
        expect(result.data).toEqual({
          job_id: jobId,
          estimated_runtime_seconds,
          status: 'complete',
          result: notified.result,
        });
      }
    });

    test('of an unknown job is no success', async () => {
      const { result } = await client.request('tools/poll_result', { job_id: 'abc-123' });
      expect(result.success).toBe(false);
      expect(result.messages).toEqual([{ type: 'error', text: 'Job not found: abc-123' }]);
    });
  });

  if (transport === 'stdio') {
    test('the response comes before all notifications of its job', () => {
      const { received } = client as StdioClient;
      const answer = received.findIndex(({ result }) => result?.data?.job_id === jobId);
      const first = received.findIndex(({ params }) => params?.job_id === jobId);
      expect(answer).toBeLessThan(first);
    });
  }
});
