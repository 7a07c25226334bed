/** The document's own example, step by step, over stdio and over HTTP. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../stack/cli-process.js';
import { forAllTests, temporaryFolder } from '../support/for-all-tests.js';
import { StdioServers } from '../support/stdio-servers.js';
import { HttpClient, type TwoStageClient, notificationsOf, openStdio } from './client.js';

const FILES = 490;
const EMPTY = 10;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;

const stdio = await forAllTests(StdioServers.open());
const folder = temporaryFolder('to-sync');
mkdirSync(join(folder, 'deeper'), { recursive: true });
for (let index = 0; index < FILES + EMPTY; index += 1)
  writeFileSync(join(folder, index % 2 ? 'deeper' : '', `${index}.txt`), index < EMPTY ? '' : `${index}`);

const overHttp = async () => {
  const client = await HttpClient.open(stdio.parts.client.url);
  await client.listen();
  return client;
};
const overStdio = () => openStdio(stdio);

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

  test('stage 1, the immediate response, names the job, the estimate and the methods that poll and cancel', () => {
    expect(called).toMatchObject({ jsonrpc: '2.0', id: expect.any(Number) });
    expect(called).not.toHaveProperty('error');
    const { success, data, messages, content, structuredContent } = called.result;
    expect(success).toBe(true);
    // The document's fields, the method that cancels and the time that it is kept. No other field.
    expect(data).toEqual({
      job_id: expect.stringMatching(/^\S{16,}$/),
      status: expect.stringMatching(/^(queued|running)$/),
      estimated_runtime_seconds: expect.any(Number),
      poll_endpoint: 'tools/poll_result',
      cancel_endpoint: 'tools/cancel_job',
      keep_alive_seconds: expect.any(Number),
    });
    expect(data.estimated_runtime_seconds).toBeGreaterThan(0);
    expect(messages).toEqual([{ type: 'info', text: expect.stringMatching(/Estimated runtime: \d+ s/) }]);
    // It is a result of MCP too, with the job and the estimate in the fields of its own that results got.
    expect(content).toEqual([{ type: 'text', text: messages[0].text }]);
    expect(structuredContent).toEqual({ success, data, messages });
    const { job_id, estimated_runtime_seconds } = data;
    expect(called.result).toMatchObject({ job_id, estimated_runtime_seconds });
  });

  test('stage 2, progress, comes as notifications with a share from 0 to 1 that never goes back', () => {
    const raw = client.notifications.filter(({ method }) => method === 'notifications/progress');
    for (const one of raw) expect(Object.keys(one).sort()).toEqual(['jsonrpc', 'method', 'params']);
    const notified = notificationsOf(client, jobId).progress;
    for (const params of notified)
      expect(params).toEqual({
        job_id: jobId,
        message: expect.any(String),
        progress: expect.any(Number),
        timestamp: expect.stringMatching(TIME),
      });
    const shares = notified.map(({ progress }: any) => progress);
    expect(shares.filter((share) => share < 0 || share > 1)).toEqual([]);
    expect([...shares].sort((a, b) => a - b)).toEqual(shares);
    expect(new Set(shares).size).toBeGreaterThan(1);
    const said = notified.filter(({ message }: any) => /Processing \d+ of 500 files\.\.\./.test(message));
    expect(said).not.toEqual([]);
  });

  test('stage 3, the final result, comes once, as a notification after all progress', () => {
    const methods = client.notifications.map(({ method }) => method);
    expect(methods.indexOf('notifications/tool_result')).toBe(methods.length - 1);
    expect(Object.keys(client.notifications.at(-1)).sort()).toEqual(['jsonrpc', 'method', 'params']);
    const { estimated_runtime_seconds } = called.result.data;
    const notified = notificationsOf(client, jobId).results[0];
    expect(notified).toEqual({
      job_id: jobId,
      timestamp: expect.stringMatching(TIME),
      result: expect.objectContaining({
        success: true,
        data: { files_processed: FILES, files_skipped: EMPTY, duration_seconds: expect.any(Number) },
        messages: [{ type: 'info', text: expect.stringContaining('completed') }],
        job_id: jobId,
        estimated_runtime_seconds,
        content: [expect.objectContaining({ type: 'text' })],
      }),
    });
    expect(notified.result.structuredContent).toEqual(notified.result.data);
  });

  test('polling says running with the share that is done, then complete, as often as it is asked', async () => {
    const { success, data } = polledWhileRunning.result;
    expect(success).toBe(true);
    expect(['queued', 'running']).toContain(data.status);
    expect(data).toMatchObject({ job_id: jobId, progress: expect.any(Number) });
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
    const { result: unknown } = await client.request('tools/poll_result', { job_id: 'abc-123' });
    expect(unknown).toMatchObject({
      success: false,
      messages: [{ type: 'error', text: 'Job not found: abc-123' }],
    });
  });

  if (transport === 'stdio') {
    test('the response comes before all notifications of its job', () => {
      const { received } = client as Awaited<ReturnType<typeof openStdio>>;
      const answer = received.findIndex(({ result }) => result?.data?.job_id === jobId);
      const first = received.findIndex(({ params }) => params?.job_id === jobId);
      expect(answer).toBeLessThan(first);
    });
  }
});
