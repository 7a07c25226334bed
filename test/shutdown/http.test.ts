import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openEvents, type ReadStream } from '../http-jobs/sse.js';
import { LegacyClient, VERSIONS } from '../revision-2025-11-25/wire.js';
import { follow, start } from '../plain/support.js';
import { eventually } from '../stack/cli-process.js';
import type { WireClient } from '../support/mcp.js';
import { type Part, TestStack } from '../support/test-stack.js';
import { expectShortStopping, expectStopping, expectTaskStopping, takenUp } from './support.js';

/** Key of the operation that is waited for. */
const KEY = randomUUID();

let parts: TestStack;
let client: WireClient;
let server: Part;
let token: string;
beforeAll(async () => {
  // Own server: the test stops it.
  parts = await TestStack.serverOnSharedWorker({});
  server = parts.parts[0]!;
  client = parts.client.with({});
  ({ token } = await start(client, 'nap', { idempotency_key: KEY }));
  await follow(client, token, 'running');
});
afterAll(() => parts?.stop('SIGKILL'));

/** Answers to all waits, after SIGTERM in the middle of them. */
const answers: Record<string, any> = {};
let events: ReadStream;
let subscription: Awaited<ReturnType<WireClient['listen']>>;
let late: string;

const NAP = { idempotency_key: KEY, wait: true, timeout: 600 };

/** A request whose headers are incomplete when the shutdown begins. */
async function halfRequest(): Promise<{ finish(): void; answer: Promise<string> }> {
  const socket = connect(parts.port, '127.0.0.1');
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  socket.write('GET /v1/tools HTTP/1.1\r\nHost: 127.0.0.1\r\n');
  let text = '';
  socket.on('data', (chunk) => (text += chunk.toString()));
  return {
    finish: () => void socket.write('\r\n'),
    answer: new Promise((resolve) => socket.once('close', () => resolve(text))),
  };
}

const isRefused = () =>
  fetch(`${parts.base}/healthz`).then(
    () => false,
    () => true,
  );

beforeAll(async () => {
  const waits: [string, Promise<any>][] = [
    ['2026-07-28 tool', client.call('nap', NAP)],
    [
      '2026-07-28 tool with progress',
      client.request('tools/call', { name: 'nap', arguments: NAP, _meta: { progressToken: 1 } }),
    ],
    ['2026-07-28 operation_get', client.call('operation_get', { token, wait: true, timeout: 600 })],
    ['2026-07-28 short tool', client.call('short_nap', {})],
  ];
  for (const version of VERSIONS) {
    const older = await LegacyClient.open(client.url, version);
    waits.push(
      [`${version} tool`, older.call('nap', NAP)],
      [`${version} operation_get`, older.call('operation_get', { token, wait: true, timeout: 600 })],
      [`${version} short tool`, older.call('short_nap')],
    );
  }
  const older = await LegacyClient.open(client.url);
  const { taskId } = await older.task('nap');
  await older.until(taskId, 'working');
  waits.push(['task', Promise.resolve(taskId)], ['tasks/result', older.request('tasks/result', { taskId })]);
  for (const [name, message] of [
    ['resumed tool', older.message('tools/call', { name: 'nap', arguments: NAP })],
    ['resumed tasks/result', older.message('tasks/result', { taskId })],
  ] as const) {
    const broken = await older.stream(message);
    const { id } = await eventually('an event that names the wait', () => broken.events[1]);
    broken.close();
    const resumed = await older.listen(id);
    waits.push([name, resumed.ended.then(() => resumed.messages().find((one) => one.id === message.id))]);
  }
  const { jobs } = parts;
  const { headers } = await jobs.get(`/v1/jobs/${token}`);
  waits.push(
    ['long poll', jobs.get(`/v1/jobs/${token}?wait=60`)],
    ['conditional poll', jobs.get(`/v1/jobs/${token}?wait=60`, { 'if-none-match': headers.get('etag')! })],
    ['kickoff', jobs.kickOff('short_nap', {}, { prefer: 'wait=300' })],
  );
  events = await openEvents(parts.base, token);
  subscription = await parts.client.listen({ taskIds: [token] });
  await eventually('the subscription is acknowledged', () => subscription.messages.length > 1);
  const half = await halfRequest();
  await takenUp();
  server.process.kill('SIGTERM');
  await eventually('new connections are refused', isRefused);
  half.finish();
  late = await half.answer;
  await Promise.all(waits.map(async ([name, answer]) => (answers[name] = await answer)));
  await server.end();
});

test('the server ends in good order', () => {
  expect(server.process.exitCode).toBe(0);
});

test.each(['2026-07-28', ...VERSIONS])('plain waits of %s are answered with how to continue', (version) => {
  for (const kind of ['tool', 'operation_get']) expectStopping(answers[`${version} ${kind}`].result, token);
  expectShortStopping(answers[`${version} short tool`].result);
});

test('a plain wait with progress is answered on its stream', () => {
  expectStopping(answers['2026-07-28 tool with progress'].result, token);
});

test('tasks/result is answered with an error that says that the task continues', () => {
  expectTaskStopping(answers['tasks/result'].error, answers['task']);
});

test('waits that were resumed with Last-Event-ID are answered as those before', () => {
  expectStopping(answers['resumed tool'].result, token);
  expectTaskStopping(answers['resumed tasks/result'].error, answers['task']);
});

test('long polls of HTTP jobs are answered with the job, and say that the server stops', () => {
  for (const [name, status] of [
    ['long poll', 200],
    ['conditional poll', 304],
    ['kickoff', 202],
  ] as const) {
    const { headers, ...answer } = answers[name];
    expect(answer.status).toBe(status);
    expect(headers.get('longhaul-wait-ended')).toBe('server_stopping');
    expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(4);
    expect(headers.get('connection')).toBe('close');
  }
  expect(answers['long poll'].body).toMatchObject({ job_id: token, status: 'running' });
  expect(answers['kickoff'].body).toMatchObject({ status: 'running', status_url: expect.any(String) });
});

test('a stream of events ends in good order, and says why', async () => {
  expect(await events.ended).toBe(true);
  const last = events.events.at(-1)!;
  expect(last).toEqual({
    event: 'server_stopping',
    data: { job_id: token, retry_after_seconds: expect.any(Number) },
  });
});

test('a subscription ends with its result', async () => {
  await subscription.ended;
  expect(subscription.messages.at(-1).result).toMatchObject({ resultType: 'complete' });
});

test('a request that comes during the shutdown is refused, and says when to come back', () => {
  expect(late).toMatch(/^HTTP\/1.1 503 /);
  expect(late.toLowerCase()).toMatch(/\r\nretry-after: 4\r\n/);
  expect(late.toLowerCase()).toMatch(/\r\nconnection: close\r\n/);
  const problem = JSON.parse(late.slice(late.indexOf('\r\n\r\n') + 4).replace(/^[^{]*|[^}]*$/g, ''));
  expect(problem).toMatchObject({ type: '/problems/server-stopping', retryable: true });
});
