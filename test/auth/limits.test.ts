/** Limits on every protocol: rates, open requests, open operations, connections, slow senders. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { beforeAll, expect, test } from '@jest/globals';
import { addApiKey } from '../../mcp-server/auth/key-store.js';
import { LegacyClient, secondServer } from '../revision-2025-11-25/wire.js';
import { eventually } from '../stack/cli-process.js';
import { forAllTests, temporaryFolder } from '../support/for-all-tests.js';
import { JobsClient } from '../support/jobs.js';
import { TASKS, TASKS_AND_FORMS, WireClient } from '../support/mcp.js';
import { TestStack } from '../support/test-stack.js';

const STARTS = 6;
const REQUESTS = 3;
const OPEN = 2;
const CONNECTIONS = 8;

/** Servers with few of one thing each. */
const bases = { starts: '', requests: '', open: '' };
let people = 0;

/** A key of a caller whom nobody has counted yet. */
const newKey = () => addApiKey(folder, { tenant: 'acme', subject: `person ${++people}` })[0];

const anotherServer = async (environment: Record<string, string>) =>
  new URL((await secondServer(stack, environment)).url).origin;

const folder = temporaryFolder('limits');
// Own servers: with low limits.
const stack = await forAllTests(
  TestStack.serverOnSharedWorker({
    LONGHAUL_AUTHENTICATION: 'keys',
    LONGHAUL_KEYS_FOLDER: folder,
    LONGHAUL_KICKOFFS_PER_MINUTE: String(STARTS),
  }),
);
bases.starts = stack.base;
beforeAll(async () => {
  bases.requests = await anotherServer({
    LONGHAUL_STATUS_PER_MINUTE: String(REQUESTS),
    LONGHAUL_MAX_CONNECTIONS_PER_ADDRESS: String(CONNECTIONS),
  });
  bases.open = await anotherServer({
    LONGHAUL_KICKOFFS_PER_MINUTE: '1000',
    LONGHAUL_MAX_OPEN_REQUESTS: String(OPEN),
    LONGHAUL_MAX_OPEN_OPERATIONS: String(OPEN),
  });
});

const TOOL = { name: 'slow_compute', arguments: { seconds: 0 } };

/** Protocol -> a start by it: undefined when it was admitted, else the refusal. */
const PROTOCOLS: Record<string, (base: string, key: string) => Promise<any>> = {
  tasks: (base, key) => called(base, key, TASKS),
  'plain tools': (base, key) => called(base, key, {}),
  'SEP-1391': (base, key) => called(base, key, { experimental: { asyncTools: {} } }, { operation: {} }),
  'two-stage returns': (base, key) => called(base, key, { experimental: { twoStage: {} } }),
  '2025-11-25': async (base, key) => {
    const client = await LegacyClient.open(`${base}/mcp`, '2025-11-25', {}, 'longhaul-tests', key);
    return refusalIn(await client.call(TOOL.name, TOOL.arguments));
  },
  jobs: async (base, key) => {
    const { status, headers, body } = await new JobsClient(base, key).kickOff(TOOL.name, TOOL.arguments);
    if (status < 300) return undefined;
    expect([status, body.type]).toEqual([429, '/problems/rate-limited']);
    return {
      kind: 'rate_limited',
      retryable: body.retryable,
      retryAfterSeconds: Number(headers.get('retry-after')),
    };
  },
};

async function called(base: string, key: string, capabilities: object, more: object = {}): Promise<any> {
  const client = new WireClient(`${base}/mcp`, capabilities, 'longhaul-tests', key);
  return refusalIn(await client.request('tools/call', { ...TOOL, ...more }));
}

function refusalIn({
  httpStatus,
  result,
  error,
}: {
  httpStatus: number;
  result?: any;
  error?: any;
}): unknown {
  expect(httpStatus).toBe(200);
  // SEP-1391 answers refusals as errors.
  if (error) return error.data;
  return result.isError ? result._meta['longhaul/error'] : undefined;
}

test('starts on all protocols count together, for each caller', async () => {
  const key = newKey();
  expect(Object.keys(PROTOCOLS)).toHaveLength(STARTS);
  for (const [protocol, start] of Object.entries(PROTOCOLS))
    expect([protocol, await start(bases.starts, key)]).toEqual([protocol, undefined]);
  for (const [protocol, start] of Object.entries(PROTOCOLS))
    expect([protocol, await start(bases.starts, key)]).toEqual([
      protocol,
      { kind: 'rate_limited', retryable: true, retryAfterSeconds: expect.any(Number) },
    ]);
  const client = new WireClient(`${bases.starts}/mcp`, TASKS, 'longhaul-tests', key);
  const { result } = await client.request('tools/call', TOOL);
  expect(result.content[0].text).toMatch(
    /^kickoff: expected at most 6 requests for each caller in 60 s; .* in \d+ s$/,
  );
  // Reads and other callers aren't affected.
  expect((await client.request('tools/list')).httpStatus).toBe(200);
  expect(await PROTOCOLS['tasks']!(bases.starts, newKey())).toBeUndefined();
});

test('requests of MCP have a rate, answered with 429', async () => {
  const key = newKey();
  const client = new WireClient(`${bases.requests}/mcp`, TASKS, 'longhaul-tests', key);
  for (let request = 0; request < REQUESTS; request += 1)
    expect((await client.request('tools/list')).httpStatus).toBe(200);
  const refused = await client.post(
    JSON.stringify(client.envelope('tools/list')),
    client.headers('tools/list'),
  );
  expect(refused.status).toBe(429);
  const seconds = Number(refused.headers.get('retry-after'));
  expect(seconds).toBeGreaterThan(0);
  expect(await refused.json()).toMatchObject({
    jsonrpc: '2.0',
    error: { code: -32000, data: { kind: 'rate_limited', retryable: true, retryAfterSeconds: seconds } },
  });
  expect((await new JobsClient(bases.requests, key).get('/v1/tools')).status).toBe(429);
  expect((await new JobsClient(bases.requests, newKey()).get('/v1/tools')).status).toBe(200);
});

test('waits and streams count until they end', async () => {
  const key = newKey();
  const client = new WireClient(`${bases.open}/mcp`, TASKS, 'longhaul-tests', key);
  const jobs = new JobsClient(bases.open, key);
  const token = await client.start('confirm_delete', { filename: 'a.txt' });
  const subscription = await client.listen({ taskIds: [token] });
  const wait = jobs.get(`/v1/jobs/${token}/events`);
  await eventually('both are open', async () => (await jobs.get('/v1/tools')).status === 429);
  const refused = await jobs.get('/v1/tools');
  expect([refused.body.type, Number(refused.headers.get('retry-after'))]).toEqual([
    '/problems/rate-limited',
    5,
  ]);
  expect((await client.request('tools/list')).httpStatus).toBe(429);
  subscription.close();
  await eventually('one is free again', async () => (await client.request('tools/list')).httpStatus === 200);
  await client.request('tasks/cancel', { taskId: token });
  await wait;
});

test('open operations are limited, until one has ended', async () => {
  const key = newKey();
  const client = new WireClient(`${bases.open}/mcp`, TASKS, 'longhaul-tests', key);
  const ask = () => client.call('confirm_delete', { filename: 'a.txt' });
  const tokens = [(await ask()).result.taskId, (await ask()).result.taskId];
  const { result } = await ask();
  expect(result.content[0].text).toContain(
    'expected at most 2 open operations for each caller; got one more',
  );
  expect(result._meta['longhaul/error'].kind).toBe('rate_limited');
  const job = await new JobsClient(bases.open, key).kickOff('confirm_delete', { filename: 'a.txt' });
  expect([job.status, job.headers.get('retry-after')]).toEqual([429, '10']);
  await client.request('tasks/cancel', { taskId: tokens[0] });
  const next = await eventually(
    'there is room',
    async () => (await ask()).result.taskId as string | undefined,
  );
  for (const token of [tokens[1], next]) await client.request('tasks/cancel', { taskId: token });
});

test('an answer has a size', async () => {
  const key = newKey();
  const client = new WireClient(`${bases.open}/mcp`, TASKS_AND_FORMS, 'longhaul-tests', key);
  const token = await client.start('confirm_delete', { filename: 'a.txt' });
  await client.until(token, 'input_required');
  const content = { confirm: true, note: 'x'.repeat(1024 * 1024) };
  const answer = { action: 'accept', content };
  const { error } = await client.answer(token, 'input-1', answer);
  expect(error!.message).toMatch(/^answer: expected at most 1048576 bytes; got \d+/);
  await client.request('tasks/cancel', { taskId: token });
});

test('an address has a number of connections', async () => {
  const port = Number(new URL(bases.requests).port);
  const sockets: Socket[] = [];
  const ask = async () => {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    return new Promise<string>((resolve) => {
      socket.once('data', () => resolve('answered')).once('close', () => resolve('closed'));
    });
  };
  // Connections of earlier tests may still be open.
  let answered = 0;
  while ((await ask()) === 'answered') answered += 1;
  expect(answered).toBeGreaterThan(0);
  expect(answered).toBeLessThanOrEqual(CONNECTIONS);
  sockets[0]!.destroy();
  await eventually('there is room', async () => (await ask()) === 'answered');
  for (const socket of sockets) socket.destroy();
});

test('headers that do not arrive are answered 408, and the connection ends', async () => {
  const socket = connect(Number(new URL(bases.open).port), '127.0.0.1');
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  socket.write('POST /mcp HTTP/1.1\r\nHost: localhost\r\n');
  await once(socket, 'close');
  expect(text).toMatch(/^HTTP\/1.1 408 Request Timeout\r\n/);
  expect(text).toContain('/problems/request-timeout');
});
