import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { sealOf } from '../../platform/home/seal.js';
import { loadSecret } from '../../platform/home/secret.js';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { forged } from '../support/forged.js';
import { TestStack } from '../support/test-stack.js';
import { FORMS, LegacyClient, secondServer, VERSIONS } from './wire.js';

const secret = loadSecret(process.env['LONGHAUL_HOME']!);
const parts = await forAllTests(TestStack.shared());
/** A server that outlives those that tests end. */
const otherUrl = parts.client.url;
const open = (version?: string, capabilities?: object, url = parts.client.url) =>
  LegacyClient.open(url, version, capabilities);

/** Starts a server that a test may kill. */
async function victim(): Promise<{ url: string; kill: () => Promise<void> }> {
  const { url, part } = await secondServer(parts);
  return { url, kill: () => part.end('SIGKILL') };
}

type Stream = Awaited<ReturnType<LegacyClient['stream']>>;
interface Wait {
  client: LegacyClient;
  message: { id: number };
  stream: Stream;
}

/** Length of the work whose server is killed in the middle. */
const SECONDS = 10;

describe('a session', () => {
  test('continues at another server once its own is gone, in every version', async () => {
    const { url, kill } = await victim();
    const started = await Promise.all(
      VERSIONS.map(async (version) => {
        const client = await open(version, FORMS, url);
        const { result } = await client.call('slow_compute', { seconds: 1, wait: false });
        return { version, client, token: result.structuredContent.token as string };
      }),
    );
    await kill();
    for (const { version, client, token } of started) {
      client.url = otherUrl;
      const { result } = await client.call('operation_get', { token, wait: true });
      expect([version, result.structuredContent.status]).toEqual([version, 'completed']);
    }
  });

  test('that is missing is 400; forged, foreign or expired it is 404', async () => {
    const client = await open();
    const own = client.session;
    const status = async (session: string) => {
      client.session = session;
      const post = await client.post(client.message('ping'));
      const get = await fetch(client.url, { headers: client.headers({ accept: 'text/event-stream' }) });
      await get.body?.cancel();
      return [post.status, get.status];
    };
    expect(await status('')).toEqual([400, 405]);
    const session = (endsAt: number, secretOf = secret, purpose = 'session') =>
      sealOf(secretOf, purpose).seal({
        version: '2025-11-25',
        elicitation: false,
        clientName: 'x',
        principal: 'anonymous',
        nonce: 'n',
        endsAt,
      });
    const later = Date.now() + 60_000;
    expect(await status(session(later))).toEqual([200, 200]);
    for (const bad of [
      session(Date.now() - 1),
      session(later, randomBytes(32)),
      session(later, secret, 'question'),
      `${own.slice(0, 20)}${own[20] === 'A' ? 'B' : 'A'}${own.slice(21)}`,
      own.slice(0, -4),
      'made-up',
      'x'.repeat(9_000),
    ])
      expect(await status(bad)).toEqual([404, 404]);
    expect(await status(own)).toEqual([200, 200]);
  });

  test('lasts longer than any result, and cannot be deleted', async () => {
    const client = await open();
    const { endsAt } = sealOf<{ endsAt: number }>(secret, 'session').open(client.session)!;
    expect(endsAt).toBeGreaterThan(Date.now() + 30 * 24 * 3600 * 1000);
    const response = await fetch(client.url, { method: 'DELETE', headers: client.headers() });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
    expect((await client.request('ping')).result).toEqual({});
  });
});

describe('the endpoint refuses', () => {
  test('an invalid initialize, and gives no session for it', async () => {
    const client = new LegacyClient(parts.client.url);
    const response = await client.post(client.message('initialize', { protocolVersion: '2025-11-25' }));
    expect([response.status, response.headers.get('mcp-session-id')]).toEqual([400, null]);
    expect(await response.json()).toMatchObject({ error: { code: -32602 } });
  });

  test('a version that it does not speak, in the header; in initialize it answers with its own', async () => {
    const client = await open();
    for (const version of ['2020-01-01', 'x']) {
      const response = await client.post(client.message('ping'), { 'mcp-protocol-version': version });
      expect(response.status).toBe(400);
    }
    const odd = new LegacyClient(parts.client.url, '1999-01-01');
    expect(await odd.initialize()).toMatchObject({ protocolVersion: '2025-11-25' });
  });

  test('a Last-Event-ID of no stream of this session', async () => {
    const [client, other] = [await open(), await open()];
    const message = client.message('tools/call', {
      name: 'slow_compute',
      arguments: { seconds: 0, wait: true },
    });
    const stream = await client.stream(message);
    await stream.ended;
    const { id } = stream.events[0]!;
    for (const [who, lastEventId] of [
      [other, id!],
      [client, forged(id!)],
      [client, 'made-up'],
    ] as const)
      expect((await who.listen(lastEventId)).response.status).toBe(400);
  });
});

describe('a wait whose server is killed', () => {
  const lastId = (stream: Stream) => stream.events.findLast(({ id }) => id)!.id!;
  const waits = (stream: Stream) =>
    eventually('it waits', () => stream.events.filter(({ id }) => id).length > 1);
  /** A wait at the server that is killed. */
  async function waitAt(url: string, capabilities: object, params: object, method = 'tools/call') {
    const client = await open('2025-11-25', capabilities, url);
    const message = client.message(method, params);
    return { client, message, stream: await client.stream(message) };
  }
  /** Takes a wait up at the other server, until its end. */
  async function resumed({ client, stream }: Wait): Promise<any[]> {
    client.url = otherUrl;
    const again = await client.listen(lastId(stream));
    await again.ended;
    return again.messages();
  }

  /** All of them wait at one server when it is killed. */
  let survivor: Wait;
  let ofTask: Wait[];
  let withBudget: Wait;
  beforeAll(async () => {
    const { url, kill } = await victim();
    const { taskId } = await (await open('2025-11-25', {}, url)).task('slow_compute', { seconds: SECONDS });
    [survivor, withBudget, ...ofTask] = await Promise.all([
      waitAt(
        url,
        {},
        {
          name: 'slow_compute',
          arguments: { seconds: SECONDS, wait: true, label: 'survivor' },
          _meta: { progressToken: 7 },
        },
      ),
      waitAt(url, {}, { name: 'slow_compute', arguments: { seconds: 600, wait: true, timeout: SECONDS } }),
      waitAt(url, {}, { taskId }, 'tasks/result'),
      waitAt(url, {}, { name: 'operation_get', arguments: { token: taskId, wait: true } }),
    ]);
    await Promise.all([survivor, withBudget, ...ofTask].map(({ stream }) => waits(stream)));
    await kill();
  });

  test('is resumed at another with Last-Event-ID, and ends with the response to the request', async () => {
    const { stream, message } = survivor;
    expect(stream.events[0]).toMatchObject({ id: expect.any(String), retry: '4000' });
    await stream.ended;
    expect(stream.messages().some(({ id }) => id === message.id)).toBe(false);
    const messages = await resumed(survivor);
    expect(messages.at(-1)).toMatchObject({
      id: message.id,
      result: { structuredContent: { status: 'completed', result: { label: 'survivor' } } },
    });
    const amounts = [...stream.messages(), ...messages]
      .filter(({ method }) => method === 'notifications/progress')
      .map(({ params }) => params.progress);
    expect(amounts).toEqual([...new Set(amounts)].sort((a, b) => a - b));
  });

  test('for the result of a task, or by operation_get, is resumed in the same way', async () => {
    for (const wait of ofTask)
      expect((await resumed(wait)).at(-1)).toMatchObject({
        id: wait.message.id,
        result: { structuredContent: { status: 'completed' } },
      });
  });

  test('keeps its budget', async () => {
    const { structuredContent } = (await resumed(withBudget)).at(-1).result;
    expect(structuredContent.error_kind).toBe('wait_timeout');
    await withBudget.client.call('operation_cancel', { token: structuredContent.token });
  });

  test('and that is taken up again can be cancelled', async () => {
    const { client, message, stream } = await waitAt(
      otherUrl,
      {},
      { name: 'slow_compute', arguments: { seconds: 600, wait: true } },
    );
    await waits(stream);
    stream.close();
    const again = await client.listen(lastId(stream));
    await client.post({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: message.id },
    });
    await again.ended;
    expect(again.messages()).toEqual([]);
  });
});
