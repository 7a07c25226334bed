/**
 * Each caller has only what is theirs: in every verb, on every protocol, others' operations answer like unknown ones, by the same
 * calls to Temporal.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from '@jest/globals';
import { addApiKey } from '../../mcp-server/auth/key-store.js';
import { LegacyClient } from '../revision-2025-11-25/wire.js';
import { eventually } from '../stack/cli-process.js';
import { forAllTests, temporaryFolder } from '../support/for-all-tests.js';
import { JobsClient } from '../support/jobs.js';
import { WireClient } from '../support/mcp.js';
import { TemporalProxy } from '../support/temporal-proxy.js';
import { TestStack } from '../support/test-stack.js';

const ALL = {
  extensions: { 'io.modelcontextprotocol/tasks': {} },
  elicitation: {},
  experimental: { asyncTools: {}, twoStage: {} },
};
/** Token of no operation. */
const UNKNOWN = '0123456789abcdef0123456789abcdef';

/** Calls to Temporal that requests about an operation make. The worker's own don't count, nor those for lists of sessions. */
const CALLS_OF_REQUESTS =
  /^(Describe|Query|Update|Signal|RequestCancel|Delete|Start|Reset|Terminate)\w*Workflow|^GetWorkflowExecutionHistory/;

const ATTEMPTS = 5;
const LOOKS = 40;

/**
 * The owner's key, one of the same tenant, one of the same subject in another tenant, and those of roles with rights to all
 * operations of their tenant: the owner's tenant's auditor, and the other tenant's operator.
 */
const keys = { alice: '', bob: '', other: '', auditor: '', operator: '' };
const POLICY = `
roles:
  member: { members: [everyone], tools: ['*'], own: [operate, mailbox] }
  reader: { members: [{ group: readers }], tenant: [read] }
  operator: { members: [{ group: operators }], tenant: [operate] }
`;
/** The owner's operations: one that asks, one that has ended. */
const tokens = { asking: '', ended: '' };
/** Their workflow IDs, under which others of the tenant find them. */
const workflowIds = { asking: '', ended: '' };

const wire = (key: string) => new WireClient(`${stack.base}/mcp`, ALL, 'longhaul-tests', key);
const jobs = (key: string) => new JobsClient(stack.base, key);
const legacy = (key: string) =>
  LegacyClient.open(`${stack.base}/mcp`, '2025-11-25', { elicitation: {}, tasks: {} }, 'longhaul-tests', key);

const folder = temporaryFolder('keys');
[keys.alice] = addApiKey(folder, { tenant: 'acme', subject: 'alice' });
[keys.bob] = addApiKey(folder, { tenant: 'acme', subject: 'bob' });
[keys.other] = addApiKey(folder, { tenant: 'other', subject: 'alice' });
[keys.auditor] = addApiKey(folder, { tenant: 'acme', subject: 'auditor', groups: ['readers'] });
[keys.operator] = addApiKey(folder, { tenant: 'other', subject: 'operator', groups: ['operators'] });
const policy = join(folder, 'policy.yml');
writeFileSync(policy, POLICY);
const proxy = await forAllTests(TemporalProxy.start(() => undefined));
// Own server: with API keys and a policy, behind a proxy that records calls.
const stack = await forAllTests(
  TestStack.serverOnSharedWorker({
    TEMPORAL_ADDRESS: proxy.address,
    LONGHAUL_AUTHENTICATION: 'keys',
    LONGHAUL_KEYS_FOLDER: folder,
    LONGHAUL_POLICY: policy,
  }),
);
const alice = stack.client.as(keys.alice);
beforeAll(async () => {
  tokens.asking = await alice.start('confirm_delete', { filename: 'a.txt' });
  tokens.ended = await alice.start('slow_compute', { seconds: 0 });
  await alice.until(tokens.asking, 'input_required');
  await alice.until(tokens.ended, 'completed');
  await eventually('the auditor lists them', async () => {
    const { body } = await jobs(keys.auditor).get('/v1/jobs?user=all&limit=100');
    for (const name of ['asking', 'ended'] as const)
      workflowIds[name] =
        body.jobs.map(({ job_id }: any) => job_id).find((id: string) => id.endsWith(`.${tokens[name]}`)) ??
        '';
    return workflowIds.asking !== '' && workflowIds.ended !== '';
  });
});

/** An answer without what differs between any two requests: tokens, times, IDs. */
function comparable(answer: unknown, token: string): string {
  return JSON.stringify(answer)
    .replaceAll(token, 'TOKEN')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/"id":\d+/g, '"id":N');
}

/** Calls to Temporal that name a token, since the recording began. */
function callsAbout(token: string): string[] {
  return Object.entries(proxy.recordedCalls(token))
    .filter(([method]) => CALLS_OF_REQUESTS.test(method))
    .map(([method, count]) => `${method}: ${count}`)
    .sort();
}

/** Expects equal answers, by equal calls: those of a wait may come after its answer. */
async function expectEqual(
  verb: string,
  request: (key: string, token: string) => Promise<unknown>,
  key: string,
  foreign: string,
  unknown: string,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    proxy.record();
    const answer = async (token: string) => [verb, comparable(await request(key, token), token)];
    expect(await answer(foreign)).toEqual(await answer(unknown));
    for (let look = 1; look <= LOOKS; look += 1) {
      if (callsAbout(foreign).join() === callsAbout(unknown).join()) return;
      await sleep(50);
    }
    // Late calls of the request before may have been recorded.
    if (attempt === ATTEMPTS) expect([verb, callsAbout(foreign)]).toEqual([verb, callsAbout(unknown)]);
  }
}

const rpc = (method: string, params: (token: string) => object) => (key: string, token: string) =>
  wire(key).request(method, params(token));
const operationTool = (name: string, args: object = {}) =>
  rpc('tools/call', (token) => ({ name, arguments: { token, ...args } }));
const ANSWER = { action: 'accept', content: { confirm: true } };

/** Verb -> request about a token, with a key. */
const CURRENT: Record<string, (key: string, token: string) => Promise<unknown>> = {
  'tasks/get': rpc('tasks/get', (taskId) => ({ taskId })),
  'tasks/update': rpc('tasks/update', (taskId) => ({ taskId, inputResponses: { 'input-1': ANSWER } })),
  'tasks/cancel': rpc('tasks/cancel', (taskId) => ({ taskId })),
  operation_get: operationTool('operation_get'),
  'operation_get, steps': operationTool('operation_get', { view: 'steps' }),
  'operation_get, log': operationTool('operation_get', { view: 'logs' }),
  operation_answer: operationTool('operation_answer', { key: 'input-1', ...ANSWER }),
  operation_cancel: operationTool('operation_cancel'),
  operation_resume: operationTool('operation_resume'),
  operation_delete: operationTool('operation_delete'),
  'resources/read, result': rpc('resources/read', (token) => ({
    uri: `longhaul://operations/${token}/result`,
  })),
  'resources/read, artifact': rpc('resources/read', (token) => ({
    uri: `longhaul://operations/${token}/artifacts/a.txt`,
  })),
  'resources/read, log': rpc('resources/read', (token) => ({ uri: `longhaul://operations/${token}/logs/a` })),
  'tools/async/status': rpc('tools/async/status', (token) => ({ token })),
  'tools/async/result': rpc('tools/async/result', (token) => ({ token })),
  'tools/poll_result': rpc('tools/poll_result', (job_id) => ({ job_id })),
  'tools/cancel_job': rpc('tools/cancel_job', (job_id) => ({ job_id })),
  'subscriptions/listen': async (key, token) => {
    const uri = `longhaul://operations/${token}/result`;
    const stream = await wire(key).listen({
      taskIds: [token],
      jobIds: [token],
      resourceSubscriptions: [uri],
    });
    await eventually('it is acknowledged', () => stream.messages.length > 0);
    stream.close();
    await stream.ended;
    return stream.messages;
  },
};

const http = (method: string, path: string, body?: object) => async (key: string, token: string) => {
  const { status, body: answer } = await jobs(key).request(method, `/v1/jobs/${token}${path}`, {
    ...(body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {}),
  });
  return { status, answer };
};
const HTTP: Record<string, (key: string, token: string) => Promise<unknown>> = {
  'GET job': http('GET', ''),
  'GET job with a wait': http('GET', '?wait=1'),
  'GET result': http('GET', '/result'),
  'GET steps': http('GET', '/steps'),
  'GET logs': http('GET', '/logs'),
  'GET a log': http('GET', '/logs?step=a'),
  'GET events': http('GET', '/events'),
  'GET artifacts': http('GET', '/artifacts'),
  'GET an artifact': http('GET', '/artifacts/a.txt'),
  'POST input': http('POST', '/input', { key: 'input-1', value: ANSWER.content }),
  'POST cancel': http('POST', ':cancel'),
  'POST resume': http('POST', ':resume'),
  DELETE: http('DELETE', ''),
};

const older = (method: string, params: (token: string) => object) => async (key: string, token: string) =>
  (await legacy(key)).request(method, params(token));
const OLDER: Record<string, (key: string, token: string) => Promise<unknown>> = {
  'tasks/get': older('tasks/get', (taskId) => ({ taskId })),
  'tasks/result': older('tasks/result', (taskId) => ({ taskId })),
  'tasks/cancel': older('tasks/cancel', (taskId) => ({ taskId })),
  operation_get: older('tools/call', (token) => ({ name: 'operation_get', arguments: { token } })),
  'resources/read': older('resources/read', (token) => ({ uri: `longhaul://operations/${token}/result` })),
  'resources/subscribe': older('resources/subscribe', (token) => ({
    uri: `longhaul://operations/${token}/result`,
  })),
};

test.each([
  ['MCP 2026-07-28', CURRENT],
  ['HTTP jobs', HTTP],
  ['MCP 2025-11-25', OLDER],
])('%s: in every verb, what is of others answers like what never was', async (_protocol, verbs) => {
  const { bob, other, operator } = keys;
  for (const [verb, request] of Object.entries(verbs))
    for (const name of ['asking', 'ended'] as const) {
      const unknownId = workflowIds[name].replace(tokens[name], UNKNOWN);
      for (const key of [bob, other, operator]) await expectEqual(verb, request, key, tokens[name], UNKNOWN);
      for (const key of [bob, operator]) await expectEqual(verb, request, key, workflowIds[name], unknownId);
    }
});

test('the owner has them still, unchanged, and each verb distinguishes them from an unknown one', async () => {
  const alice = wire(keys.alice);
  expect(await alice.get(tokens.asking)).toMatchObject({ status: 'input_required' });
  expect(await alice.get(tokens.ended)).toMatchObject({ status: 'completed' });
  proxy.record();
  await CURRENT['tasks/get']!(keys.bob, tokens.asking);
  expect(callsAbout(tokens.asking)).toEqual(['DescribeWorkflowExecution: 1']);
  // Those that change nothing; so that equal answers above aren't equal for everybody.
  for (const verb of [
    'tasks/get',
    'operation_get',
    'operation_get, steps',
    'tools/async/status',
    'tools/async/result',
    'tools/poll_result',
    'resources/read, result',
    'subscriptions/listen',
  ])
    expect(comparable(await CURRENT[verb]!(keys.alice, tokens.ended), tokens.ended)).not.toBe(
      comparable(await CURRENT[verb]!(keys.alice, UNKNOWN), UNKNOWN),
    );
  for (const verb of ['GET job', 'GET result', 'GET artifacts', 'GET logs'])
    expect(comparable(await HTTP[verb]!(keys.alice, tokens.ended), tokens.ended)).not.toBe(
      comparable(await HTTP[verb]!(keys.alice, UNKNOWN), UNKNOWN),
    );
  for (const verb of ['tasks/get', 'operation_get'])
    expect(comparable(await OLDER[verb]!(keys.alice, tokens.ended), tokens.ended)).not.toBe(
      comparable(await OLDER[verb]!(keys.alice, UNKNOWN), UNKNOWN),
    );
});

test('lists have what is theirs, on every protocol', async () => {
  const listed = async (key: string) => {
    const { result } = await wire(key).call('operation_list', {});
    const { body } = await jobs(key).get('/v1/jobs');
    const tasks = await (await legacy(key)).request('tasks/list');
    return JSON.stringify([result, body, tasks.result ?? tasks.error]);
  };
  await eventually('the owner lists them', async () => {
    const text = await listed(keys.alice);
    return Object.values(tokens).every((token) => text.includes(token));
  });
  for (const key of [keys.bob, keys.other])
    for (const token of Object.values(tokens)) expect(await listed(key)).not.toContain(token);
});

test('a key of the same subject and tenant has the same operations', async () => {
  const [second] = addApiKey(folder, { tenant: 'acme', subject: 'alice' });
  expect(await wire(second).get(tokens.ended)).toMatchObject({ status: 'completed' });
});

test('idempotency keys and tokens that clients choose are of the caller', async () => {
  const start = async (key: string, idempotencyKey: string) =>
    (await jobs(key).kickOff('slow_compute', { seconds: 0 }, { 'idempotency-key': idempotencyKey })).body
      .job_id;
  expect(await start(keys.alice, 'same')).toBe(await start(keys.alice, 'same'));
  expect(await start(keys.bob, 'same')).not.toBe(await start(keys.alice, 'same'));
  const chosen = { name: 'slow_compute', arguments: { seconds: 0 }, operation: { token: 'my-token' } };
  for (const key of [keys.alice, keys.bob]) {
    const { result, error } = await wire(key).request('tools/call', chosen);
    expect([error, result.operation.token]).toEqual([undefined, 'my-token']);
  }
});

test("a cursor of one caller's list is refused from another", async () => {
  await eventually(
    'there are two',
    async () => (await jobs(keys.alice).get('/v1/jobs')).body.jobs.length >= 2,
  );
  const { body } = await jobs(keys.alice).get('/v1/jobs?limit=1');
  const cursor = body.next_cursor ?? body.cursor;
  expect(cursor).toEqual(expect.any(String));
  const answer = await jobs(keys.bob).get(`/v1/jobs?limit=1&cursor=${encodeURIComponent(cursor)}`);
  expect(answer.body.type).toBe('/problems/invalid-cursor');
});
