/** The header Accept of clients of the older revisions, and batches: no formality fails a request. */
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';
import { FORMS, initializeParams, LegacyClient } from './wire.js';

/** Accept, and whether a waiting call is answered on a stream. */
const ACCEPTED: [accept: string | undefined, isStream: boolean][] = [
  [undefined, false],
  ['*/*', false],
  ['application/*', false],
  ['application/json', false],
  ['Application/JSON;charset=utf-8', false],
  ['text/html, image/gif, *; q=.2', false],
  ['application/json, text/event-stream', true],
  ['APPLICATION/JSON, TEXT/EVENT-STREAM', true],
  ['application/json;q=0.1, text/event-stream;q=0.9', true],
  ['application/json, text/*', true],
];

const parts = await forAllTests(TestStack.shared());

interface Posted {
  status: number;
  type: string;
  text: string;
  /** The response's message, or the last one on the stream. */
  message: any;
  session: string;
}

/** Sends a POST with exactly these headers: `fetch` would add an Accept. */
async function post(
  client: LegacyClient,
  body: unknown,
  accept: string | undefined,
  path = '/mcp',
): Promise<Posted> {
  const { accept: _accept, ...headers } = client.headers();
  const sent = request(new URL(path, client.url), {
    method: 'POST',
    headers: { ...headers, ...(accept === undefined ? {} : { accept }) },
  });
  const response = await new Promise<any>((resolve, reject) => {
    sent.on('response', resolve).on('error', reject).end(JSON.stringify(body));
  });
  const received = await text(response);
  const type = response.headers['content-type'] ?? '';
  const json = type.includes('event-stream') ? received.split('data: ').at(-1)! : received;
  return {
    ...{ status: response.statusCode, type, text: received, session: response.headers['mcp-session-id'] },
    message: json === '' ? undefined : JSON.parse(json),
  };
}

async function open(version: string, accept: string | undefined, capabilities: object = {}) {
  const client = new LegacyClient(parts.client.url, version, capabilities);
  const { session, message } = await post(
    client,
    client.message('initialize', initializeParams(version, capabilities)),
    accept,
  );
  expect(message.result).toMatchObject({ protocolVersion: version });
  client.session = session;
  return client;
}

describe('in 2025-11-25', () => {
  const version = '2025-11-25';

  test.each(ACCEPTED)('Accept: %s is served', async (accept, isStream) => {
    const client = await open(version, accept);
    const notified = await post(client, { jsonrpc: '2.0', method: 'notifications/initialized' }, accept);
    expect(notified.status).toBe(202);
    const listed = await post(client, client.message('tools/list'), accept);
    expect([listed.status, listed.type]).toEqual([200, 'application/json']);
    expect(listed.message.result.tools.length).toBeGreaterThan(1);
    const waits = { name: 'slow_compute', arguments: { seconds: 0, wait: true } };
    const called = await post(client, client.message('tools/call', waits), accept);
    expect([called.status, called.type]).toEqual([200, isStream ? 'text/event-stream' : 'application/json']);
    expect(called.message.result.structuredContent).toMatchObject({ status: 'completed' });
  });

  test('a client that accepts streams only gets streams', async () => {
    const client = await open(version, 'text/event-stream');
    const listed = await post(client, client.message('tools/list'), 'text/event-stream');
    expect(listed.type).toBe('text/event-stream');
    expect(listed.message.result.tools.length).toBeGreaterThan(1);
  });

  test.each(['text/html', 'application/json;q=0', 'text/event-stream;q=0, application/xml'])(
    'Accept: %s is refused, for requests only',
    async (accept) => {
      const client = await open(version, undefined);
      expect((await post(client, client.message('ping'), accept)).status).toBe(406);
      const notified = await post(client, { jsonrpc: '2.0', method: 'notifications/initialized' }, accept);
      expect(notified.status).toBe(202);
    },
  );
});

test.each(['2025-03-26', '2025-06-18'])('in %s, a client may accept anything too', async (version) => {
  for (const accept of [undefined, '*/*']) {
    const client = await open(version, accept);
    expect((await post(client, client.message('tools/list'), accept)).status).toBe(200);
  }
});

test('a call that waits for a JSON response ends with its question', async () => {
  const client = await open('2025-11-25', '*/*', FORMS);
  const args = { filename: 'a.txt', wait: true };
  const called = await post(
    client,
    client.message('tools/call', { name: 'confirm_delete', arguments: args }),
    '*/*',
  );
  const { status, token } = called.message.result.structuredContent;
  expect([called.type, status]).toEqual(['application/json', 'input_required']);
  await client.call('operation_cancel', { token });
});

test('a call that waits for a JSON response can be cancelled', async () => {
  const client = await open('2025-11-25', '*/*');
  const label = `cancelled-${Date.now()}`;
  const message = client.message('tools/call', {
    name: 'slow_compute',
    arguments: { seconds: 600, wait: true, label, idempotency_key: label },
  });
  const waiting = post(client, message, '*/*');
  const started = await eventually('it has started', async () => {
    const { result } = await client.call('operation_list', {});
    return result.structuredContent.operations.find(({ tool }: any) => tool === 'slow_compute');
  });
  // Until the server waits, it has nothing to cancel.
  const ended = await eventually('the wait ends', async () => {
    await client.post({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: message.id },
    });
    return Promise.race([
      waiting,
      new Promise<undefined>((resolve) => setImmediate(() => resolve(undefined))),
    ]);
  });
  expect([ended.status, ended.text]).toEqual([202, '']);
  await client.call('operation_cancel', { token: started.token });
});

test('a session has its stream for any Accept that allows one, and HEAD opens none', async () => {
  const client = await LegacyClient.open(parts.client.url);
  const stream = await client.listen();
  const { accept: _accept, ...headers } = client.headers();
  const head = await fetch(client.url, { method: 'HEAD', headers });
  expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  await client.task('slow_compute', { seconds: 0 });
  await eventually('the stream continues', () =>
    stream.messages().some(({ method }) => method === 'notifications/tasks/status'),
  );
  // `fetch` sends a wildcard.
  const gone = new AbortController();
  const other = await fetch(client.url, { headers, signal: gone.signal });
  expect([other.status, other.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  gone.abort();
  stream.close();
});

test('a batch of 2025-03-26 with one request is answered with an array', async () => {
  const client = await open('2025-03-26', 'application/json');
  const ping = client.message('ping');
  const alone = await post(client, [ping], 'application/json');
  expect([alone.status, alone.message]).toEqual([200, [{ jsonrpc: '2.0', id: ping.id, result: {} }]]);
  const notification = { jsonrpc: '2.0', method: 'notifications/initialized' };
  const beside = await post(client, [notification, client.message('ping')], 'application/json');
  expect(beside.message).toEqual([expect.objectContaining({ result: {} })]);
  const call = client.message('tools/call', { name: 'slow_compute', arguments: { seconds: 0 } });
  expect((await post(client, [call], 'application/json')).message).toEqual([
    expect.objectContaining({ id: call.id, result: expect.anything() }),
  ]);
  expect((await post(client, client.message('ping'), 'application/json')).message).toMatchObject({
    result: {},
  });
});

test('a batch of 2025-03-26 names the member that is wrong; without messages it is -32600', async () => {
  const client = await open('2025-03-26', '*/*');
  for (const [batch, problem] of [
    [[], 'batch'],
    [[client.message('ping'), { jsonrpc: '2.0', id: 2, method: 'ping', params: null }], '1.params: '],
    [[client.message('ping'), 7], '1.message: expected an object; got 7'],
  ] as const)
    expect(await post(client, batch, '*/*')).toMatchObject({
      status: 400,
      message: { id: null, error: { code: -32600, message: expect.stringContaining(problem) } },
    });
  const opening = [client.message('ping'), client.message('initialize', {})];
  expect(await post(client, opening, '*/*')).toMatchObject({
    status: 400,
    message: { error: { code: -32600 } },
  });
});

test('later revisions have no batches, not even of one', async () => {
  for (const version of ['2025-06-18', '2025-11-25']) {
    const client = await open(version, '*/*');
    for (const batch of [[client.message('ping')], []])
      expect(await post(client, batch, '*/*')).toMatchObject({
        status: 400,
        message: { error: { code: -32600 } },
      });
  }
  const { client } = parts;
  for (const batch of [[client.envelope('tools/list')], []]) {
    const answer = await client.post(JSON.stringify(batch), client.headers('tools/list'));
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: -32600 } }]);
  }
});
