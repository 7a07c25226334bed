import { describe, expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { afterThisTest, forAllTests } from '../support/for-all-tests.js';
import { forged } from '../support/forged.js';
import { TestStack } from '../support/test-stack.js';
import { formOn, FORMS, LegacyClient, secondServer, VERSIONS } from './wire.js';

const parts = await forAllTests(TestStack.shared());
const open = (version?: string, capabilities?: object) =>
  LegacyClient.open(parts.client.url, version, capabilities);

describe.each(VERSIONS)('a client of %s', (version) => {
  test('initializes, receives the capabilities, and has a session', async () => {
    const client = new LegacyClient(parts.client.url, version);
    const result = await client.initialize();
    expect(result).toMatchObject({ protocolVersion: version, serverInfo: { name: 'longhaul' } });
    expect(result.capabilities).not.toHaveProperty('logging');
    expect(result.capabilities.resources).toEqual({});
    expect(result.capabilities.tasks).toEqual(
      version === '2025-11-25' ? { cancel: {}, requests: { tools: { call: {} } } } : undefined,
    );
    expect(client.session).toMatch(/^[\w-]{100,600}$/);
    expect((await client.request('ping')).result).toEqual({});
  });

  test('sees the plain tools, and the tools about operations', async () => {
    const client = await open(version);
    const { tools } = (await client.request('tools/list')).result;
    const byName = Object.fromEntries(tools.map((tool: any) => [tool.name, tool]));
    expect(Object.keys(byName.slow_compute.inputSchema.properties)).toEqual(
      expect.arrayContaining(['seconds', 'wait', 'timeout', 'idempotency_key']),
    );
    for (const name of ['get', 'answer', 'cancel', 'resume', 'list'])
      expect(byName).toHaveProperty(`operation_${name}`);
    const has = (name: string) => byName[name].execution;
    if (version === '2025-11-25') {
      expect(has('slow_compute')).toEqual({ taskSupport: 'optional' });
      expect(has('failing_job')).toEqual({ taskSupport: 'required' });
      expect(has('greet')).toEqual({ taskSupport: 'forbidden' });
    } else for (const name of ['slow_compute', 'failing_job', 'greet']) expect(has(name)).toBeUndefined();
    expect(has('operation_get')).toBeUndefined();
  });
});

describe('a client', () => {
  test('may wait, with progress on its own stream', async () => {
    const client = await open();
    const { result, before } = await client.call(
      'slow_compute',
      { seconds: 5, wait: true },
      { _meta: { progressToken: 'p' } },
    );
    expect(result.structuredContent.result.primes).toBeGreaterThan(10);
    const amounts = before.map(({ method, params }: any) => {
      expect([method, params.progressToken]).toEqual(['notifications/progress', 'p']);
      return params.progress;
    });
    expect(amounts.length).toBeGreaterThan(0);
    expect(amounts).toEqual([...new Set<number>(amounts)].sort((a, b) => a - b));
  });

  test('gets bad arguments as a result, and unknown names as errors', async () => {
    const client = await open();
    for (const timeout of [0, -1, 1e9, 'soon']) {
      const { result } = await client.call('slow_compute', { seconds: 1, wait: true, timeout });
      expect(result).toMatchObject({ isError: true });
      expect(result.content[0].text).toContain('arguments.timeout');
    }
    expect((await client.call('nonesuch')).error).toMatchObject({ code: -32602 });
    expect((await client.request('tools/call', { arguments: {} })).error).toMatchObject({ code: -32602 });
    expect((await client.request('nonesuch/method')).error).toMatchObject({ code: -32601 });
    expect((await client.request('logging/setLevel', { level: 'info' })).error.code).toBe(-32601);
    expect((await client.request('resources/subscribe', { uri: 'longhaul://x' })).error.code).toBe(-32601);
  });

  test('reads resources; unknown ones are -32002', async () => {
    const client = await open();
    const { token } = (await client.call('slow_compute', { seconds: 0, wait: true })).result
      .structuredContent;
    const uri = `longhaul://operations/${token}/result`;
    const { contents } = (await client.request('resources/read', { uri })).result;
    expect(JSON.parse(contents[0].text)).toMatchObject({ label: '' });
    for (const unknown of ['longhaul://operations/nonesuch/result', 'file:///etc/passwd', 'x'])
      expect((await client.request('resources/read', { uri: unknown })).error).toMatchObject({
        code: -32002,
        data: { uri: unknown },
      });
    const { resourceTemplates } = (await client.request('resources/templates/list')).result;
    expect(resourceTemplates.length).toBeGreaterThan(1);
    expect((await client.request('resources/list')).result.resources).toEqual([]);
  });
});

test('batches are answered in 2025-03-26, each of their requests', async () => {
  const client = await open('2025-03-26');
  const response = await client.post([
    client.message('ping'),
    client.message('tools/list'),
    { jsonrpc: '2.0', method: 'notifications/initialized' },
  ]);
  const answers = (await response.json()) as any[];
  expect(answers.map(({ id }) => id).sort()).toHaveLength(2);
  const calls = await client.stream([
    client.message('tools/call', { name: 'greet', arguments: { name: 'a' } }),
    client.message('tools/call', { name: 'slow_compute', arguments: { seconds: 1, wait: true } }),
  ]);
  await calls.ended;
  expect(calls.messages()).toHaveLength(2);
  const silent = await client.post([{ jsonrpc: '2.0', method: 'notifications/initialized' }]);
  expect(silent.status).toBe(202);
});

describe('a question to a waiting call', () => {
  const asking = async (client: LegacyClient, more: object = {}) => {
    const stream = await client.stream(
      client.message('tools/call', {
        name: 'confirm_delete',
        arguments: { filename: 'notes.txt', wait: true, ...more },
      }),
    );
    return { stream, asked: await formOn(stream) };
  };
  const last = (stream: { messages(): any[] }) => stream.messages().at(-1);

  test.each(['2025-11-25', '2025-06-18'])(
    'comes on its stream in %s, and the answer goes back',
    async (version) => {
      const client = await open(version, FORMS);
      const { stream, asked } = await asking(client);
      expect(asked.params).toMatchObject({
        message: 'Delete notes.txt?',
        requestedSchema: { type: 'object', required: ['confirm'] },
      });
      expect(asked.params).not.toHaveProperty('_meta');
      expect(asked.params.mode).toBe(version === '2025-11-25' ? 'form' : undefined);
      const response = await client.respond(asked.id, { action: 'accept', content: { confirm: true } });
      expect(response.status).toBe(202);
      await stream.ended;
      expect(last(stream).result.structuredContent.result).toMatchObject({ answer: 'accept' });
    },
  );

  test('is asked again when the answer does not fit, and when it is dismissed', async () => {
    const client = await open('2025-11-25', FORMS);
    const { stream, asked } = await asking(client);
    const answers: object[] = [
      { action: 'accept', content: { confirm: 'maybe' } },
      { action: 'perhaps' },
      { action: 'cancel' },
      { action: 'decline' },
    ];
    const seen = [asked.id];
    for (const [index, answer] of answers.entries()) {
      expect((await client.respond(seen.at(-1), answer)).status).toBe(202);
      if (index === answers.length - 1) break;
      const next = await eventually('it asks again', () =>
        stream.messages().find(({ method, id }) => method === 'elicitation/create' && !seen.includes(id)),
      );
      seen.push(next.id);
    }
    await stream.ended;
    expect(last(stream).result.structuredContent.result).toEqual({ answer: 'decline', deleted: [] });
  });

  test('counts only when it comes back from the session that was asked', async () => {
    const client = await open('2025-11-25', FORMS);
    const other = await open('2025-11-25', FORMS);
    const { stream, asked } = await asking(client);
    const yes = { action: 'accept', content: { confirm: true } };
    for (const [who, id] of [
      [other, asked.id],
      [client, forged(asked.id)],
      [client, 'made up'],
    ] as const)
      expect((await who.respond(id, yes)).status).toBe(400);
    expect(stream.messages().some(({ result }) => result)).toBe(false);
    await client.respond(asked.id, { action: 'decline' });
    await stream.ended;
    expect(last(stream).result.structuredContent.result.answer).toBe('decline');
    expect((await client.respond(asked.id, yes)).status).toBe(202);
  });

  test('that stays unanswered ends the call with it; an answer that comes later counts, at any server', async () => {
    const client = await open('2025-11-25', FORMS);
    const key = { idempotency_key: 'stays unanswered' };
    const { stream, asked } = await asking(client, key);
    const askedAt = Date.now();
    const started = await client.call('confirm_delete', { filename: 'notes.txt', wait: false, ...key });
    const { token } = started.result.structuredContent;
    const look = client.call('operation_get', { token, wait: true, timeout: 600 });
    await stream.ended;
    expect(Date.now() - askedAt).toBeGreaterThan(14_000);
    const { result } = last(stream);
    expect(result).not.toHaveProperty('isError');
    expect(result.structuredContent).toMatchObject({
      token,
      status: 'input_required',
      next_action: { tool: 'operation_answer', args: { token }, question: { message: 'Delete notes.txt?' } },
    });
    expect(result.structuredContent).not.toHaveProperty('error_kind');
    expect((await look).result.structuredContent).toMatchObject({ token, status: 'input_required' });
    const { url, part } = await secondServer(parts);
    afterThisTest(() => part.end());

    const elsewhere = new LegacyClient(url, client.version, client.capabilities);
    elsewhere.session = client.session;
    const answer = await elsewhere.respond(asked.id, { action: 'accept', content: { confirm: true } });
    expect(answer.status).toBe(202);
    const done = await client.call('operation_get', { token, wait: true });
    expect(done.result.structuredContent).toMatchObject({
      status: 'completed',
      result: { answer: 'accept', deleted: ['notes.txt'] },
    });
  });
});

test('notifications/cancelled ends a wait without an answer, and the work continues', async () => {
  const client = await open();
  const message = client.message('tools/call', {
    name: 'slow_compute',
    arguments: { seconds: 600, wait: true, idempotency_key: 'cancelled wait' },
  });
  const stream = await client.stream(message);
  await eventually('it waits', () => stream.events.length > 1);
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: message.id } };
  expect((await client.post(cancel)).status).toBe(202);
  await stream.ended;
  expect(stream.messages()).toEqual([]);
  const again = await client.call('slow_compute', {
    seconds: 600,
    wait: false,
    idempotency_key: 'cancelled wait',
  });
  const { token, status } = again.result.structuredContent;
  expect(['queued', 'running']).toContain(status);
  await client.call('operation_cancel', { token });
});
