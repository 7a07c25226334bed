import { beforeAll, describe, expect, test } from '@jest/globals';
import { mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { artifactKey, payloadKey } from '../../platform/storage/keys.js';
import { expectProblem } from '../http-jobs/support.js';
import { LegacyClient } from '../revision-2025-11-25/wire.js';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';

const MB = 1_000_000;
/** Error of an operation with a value that storage has lost. */
const LOST = /^(the (partial )?result can't be read: )?a large value of it is lost: /;

const parts = await forAllTests(TestStack.shared());
const { jobs } = parts;

test('a result of 5 MB completes, is linked to, and can be read again and again', async () => {
  const client = parts.client.with(parts.client.capabilities, 'claude-code');
  const taskId = await client.start('large_values', { resultBytes: 5 * MB });
  const done = await client.until(taskId, 'completed');
  const [text, link] = done.result.content;
  expect(text.text).toContain('4.8 MiB');
  expect(link).toMatchObject({ type: 'resource_link', mimeType: 'application/json' });
  expect(done.result).not.toHaveProperty('structuredContent');
  for (let time = 0; time < 2; time += 1) {
    const { result } = await client.request('resources/read', { uri: link.uri });
    expect(JSON.parse(result.contents[0].text).text).toHaveLength(5 * MB);
  }
});

test('history holds a claim and not the value, and small values stay readable', async () => {
  const taskId = await parts.client.start('large_values', { resultBytes: MB });
  await parts.client.until(taskId, 'completed');
  const history = await (await parts.temporal()).workflow.getHandle(taskId).fetchHistory();
  const input = history.events![0]!.workflowExecutionStartedEventAttributes!.input!.payloads![0]!;
  expect(JSON.parse(Buffer.from(input.data!).toString())).toMatchObject({ resultBytes: MB });
  const end = history.events!.find((event) => event.workflowExecutionCompletedEventAttributes)!;
  const result = end.workflowExecutionCompletedEventAttributes!.result!.payloads![0]!;
  expect(result.data!.length).toBeLessThan(1000);
});

test('a failure with a message of 3 MB ends the operation and not its record', async () => {
  const taskId = await parts.client.start('large_values', { failWithBytes: 3 * MB });
  const end = await parts.client.until(taskId, 'completed');
  expect(end.result.isError).toBe(true);
  expect(end.result.content[0].text).toMatch(/^f+/m);
});

test('an artifact that is too large to be read at once is refused as the request it is', async () => {
  const taskId = await parts.client.start('large_values', {});
  await parts.client.until(taskId, 'completed');
  const path = join(process.env['LONGHAUL_HOME']!, 'storage', artifactKey(taskId, 'huge.bin'));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, '');
  truncateSync(path, 100 * MB);
  const uri = `longhaul://operations/${taskId}/artifacts/huge.bin`;
  const { error } = await parts.client.request('resources/read', { uri });
  expect(error).toMatchObject({ code: -32602, data: { uri, kind: 'too_large' } });
  expect(error!.message).toContain('100000000 bytes; at most 67108864');
});

/** Waits for the end without the server, which would keep the record for seconds, and removes what is stored. */
async function lose(token: string): Promise<string> {
  const handle = (await parts.temporal()).workflow.getHandle(token);
  await eventually('it has ended', async () => (await handle.describe()).status.name !== 'RUNNING');
  const folder = dirname(payloadKey(token, 'hash'));
  rmSync(join(process.env['LONGHAUL_HOME']!, 'storage', folder), { recursive: true });
  return token;
}

describe('a lost result', () => {
  let token: string;
  beforeAll(async () => {
    token = await lose(await jobs.start('large_values', { resultBytes: 1_000_000 }));
  });

  test('is one error in the status of the job and at the address of the result', async () => {
    const { status, body } = await jobs.get(`/v1/jobs/${token}`);
    expect([status, body.status, body.result_url]).toEqual([200, 'succeeded', `/v1/jobs/${token}/result`]);
    expect(body.error).toMatchObject({
      kind: 'internal',
      retryable: false,
      message: expect.stringMatching(LOST),
    });
    const refused = await jobs.get(`/v1/jobs/${token}/result`);
    expectProblem(refused, 'value-lost', 410);
    expect(refused.body.detail).toBe(`the result can't be read: ${body.error.message}`);
    expect(refused.body.retryable).toBe(false);
  });

  test('is an error that is not retryable over each protocol of MCP', async () => {
    const lost = {
      code: -32603,
      message: expect.stringMatching(LOST),
      data: { kind: 'internal', retryable: false },
    };
    expect((await parts.client.request('tasks/get', { taskId: token })).error).toEqual(lost);
    const older = await LegacyClient.open(parts.client.url);
    expect((await older.request('tasks/get', { taskId: token })).result).toMatchObject({
      status: 'completed',
      statusMessage: expect.stringMatching(/^completed; the result can't be read: /),
    });
    expect((await older.request('tasks/result', { taskId: token })).result).toMatchObject({
      isError: true,
      structuredContent: { error: { kind: 'internal', retryable: false } },
    });
    const got = (await older.call('operation_get', { token })).result;
    expect(got.structuredContent).toMatchObject({
      status: 'completed',
      error: { kind: 'internal', retryable: false, message: expect.stringMatching(LOST) },
    });
    expect(got.content[0].text).not.toContain('Try again');
    const uri = `longhaul://operations/${token}/result`;
    expect((await older.request('resources/read', { uri })).error).toMatchObject({
      code: -32603,
      data: { kind: 'internal', retryable: false },
    });
  });

  test('keeps neither the stream of its events nor a delete', async () => {
    const events = await jobs.get(`/v1/jobs/${token}/events`);
    expect(events.body).toContain('event: result');
    expect((await jobs.post(`/v1/jobs/${token}:delete`)).status).toBe(204);
    expectProblem(await jobs.get(`/v1/jobs/${token}`), 'job-not-found', 404);
  });
});

test('a lost partial result costs no status', async () => {
  const id = await jobs.start('large_values', { partialBytes: 300_000, thenWaitSeconds: 600 });
  await jobs.until(id, 'running');
  // Not through the server, which may see the end then.
  await (await parts.temporal()).workflow.getHandle(id).cancel();
  await lose(id);
  const job = await jobs.get(`/v1/jobs/${id}`);
  expect([job.status, job.body.status, job.body.error.kind]).toEqual([200, 'canceled', 'canceled']);
  const refused = await jobs.get(`/v1/jobs/${id}/partial`);
  expectProblem(refused, 'value-lost', 410);
  expect(refused.body.detail).toMatch(LOST);
});
