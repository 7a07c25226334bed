import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { envelopeOf } from '../../mcp-server/plain/envelope/index.js';
import { connectEngine } from '../support/engine.js';
import { forAllTests } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';
import { call, follow, start, textOf } from './support.js';

const parts = await forAllTests(TestStack.shared());
const client = parts.client.with({});

/** Sends a call and returns the raw response stream, including heartbeats. */
function rawCall(params: { name: string; arguments: object }, signal?: AbortSignal): Promise<Response> {
  const headers = client.headers('tools/call', params);
  return client.post(JSON.stringify(client.envelope('tools/call', params)), headers, signal);
}

test('progress reaches callers that gave a progressToken, never goes back, and nobody else', async () => {
  const args = { seconds: 6, wait: true };
  const [heard, silent] = await Promise.all([
    client.request('tools/call', { name: 'slow_compute', arguments: args, _meta: { progressToken: 'p' } }),
    client.call('slow_compute', args),
  ]);
  const amounts = heard.notifications.map(({ method, params }) => {
    expect([method, params.progressToken]).toEqual(['notifications/progress', 'p']);
    return params.progress as number;
  });
  expect(amounts.length).toBeGreaterThan(1);
  expect(amounts).toEqual([...new Set(amounts)].sort((one, other) => one - other));
  expect(silent.notifications).toEqual([]);
  for (const { result } of [heard, silent]) expect(result.structuredContent.status).toBe('completed');
});

test('the end of the budget is reported with every ID and the next action, and the work continues to its result', async () => {
  const result = await call(client, 'slow_compute', { seconds: 4, label: 'late', wait: true, timeout: 0.5 });
  const { token } = result.structuredContent;
  expect(result.structuredContent).toMatchObject({
    token: expect.any(String),
    status: expect.stringMatching(/queued|running/),
    error_kind: 'wait_timeout',
    next_action: { tool: 'operation_get', args: { token } },
  });
  expect(result).not.toHaveProperty('isError');
  expect(textOf(result)).toContain('wait_timeout');
  const looked = await call(client, 'operation_get', { token, wait: true });
  expect(looked.structuredContent).toMatchObject({ status: 'completed', result: { label: 'late' } });
});

test('work that has closed by the time its wait ended is no time-out of the wait', async () => {
  const { token } = await start(client, 'slow_compute', { seconds: 0 });
  await follow(client, token, 'completed');
  const engine = await connectEngine(parts.taskQueue);
  const record = await engine.read('anonymous', token).finally(() => engine.temporal.close());
  const envelope = envelopeOf(record, { tool: undefined, reason: 'budget' });
  expect(envelope).toMatchObject({ token, status: 'completed' });
  expect(envelope.error_kind).toBeUndefined();
});

test('a cancel ends a wait at once', async () => {
  const args = { seconds: 600, idempotency_key: randomUUID() };
  const { token } = await start(client, 'slow_compute', args);
  const waiting = call(client, 'slow_compute', { ...args, wait: true });
  await follow(client, token, 'running');
  await call(client, 'operation_cancel', { token });
  const result = await waiting;
  expect(result).toMatchObject({ isError: true, structuredContent: { token, status: 'cancelled' } });
});

test('a client that goes away ends its wait and nothing else', async () => {
  const gone = new AbortController();
  const idempotency_key = randomUUID();
  const args = { seconds: 3, wait: true, idempotency_key };
  const cut = expect(rawCall({ name: 'slow_compute', arguments: args }, gone.signal)).rejects.toThrow();
  const { token } = await start(client, 'slow_compute', { seconds: 3, idempotency_key });
  await follow(client, token, 'running');
  gone.abort();
  await cut;
  expect(await follow(client, token, 'completed')).toMatchObject({ token, status: 'completed' });
});

test('a quiet wait is kept alive by comments, with and without progress, and ends with the answer', async () => {
  const streams = [{}, { _meta: { progressToken: 1 } }].map(async (more) => {
    const params = {
      name: 'large_values',
      arguments: { thenWaitSeconds: 16, text: 'x', wait: true },
      ...more,
    };
    const response = await rawCall(params);
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    return (await response.text()).split('\n').filter(Boolean);
  });
  for (const lines of await Promise.all(streams)) {
    expect(lines[0]).toMatch(/^: /);
    const last = JSON.parse(lines.at(-1)!.replace('data: ', ''));
    expect(last.result.structuredContent).toMatchObject({ status: 'completed', result: { textLength: 1 } });
  }
});
