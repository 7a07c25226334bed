import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { artifactKey } from '../../platform/storage/keys.js';
import { TestStack } from '../support/test-stack.js';

const MB = 1_000_000;
let parts: TestStack;
beforeAll(async () => {
  parts = await TestStack.shared();
});
afterAll(() => parts?.stop());

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

test('a large partial result survives failure and cancel', async () => {
  const { client } = parts;
  const failed = await client.start('large_values', { partialBytes: 300_000, failWithBytes: 10 });
  const end = await client.until(failed, 'completed');
  expect(end.result.isError).toBe(true);
  expect(end.result.content[0].text).toContain('pppp');
  const canceled = await client.start('large_values', { partialBytes: 3 * MB, thenWaitSeconds: 600 });
  await client.until(
    canceled,
    (task) => task.status === 'working' && task.statusMessage !== 'waiting for a worker',
  );
  await client.request('tasks/cancel', { taskId: canceled });
  await client.until(canceled, 'cancelled');
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
