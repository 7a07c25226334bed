/** Tokens that other systems made: ARNs and the like, wherever a token becomes part of an address. */
import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { run } from '../cli/commands.js';
import { forAllTests } from '../support/for-all-tests.js';
import { LegacyClient } from '../revision-2025-11-25/wire.js';
import { TASKS } from '../support/mcp.js';
import { TestStack } from '../support/test-stack.js';

const TOKENS = { experimental: { asyncTools: {} } };
/** Token that ends like an address with a verb and like a path of a job. */
const tokens = () => {
  const own = randomUUID();
  return [
    `arn:aws:states:us-east-1:123456789012:execution:Machine:${own}`,
    `${own}/a+b=c@d,e~f_g`,
    `${own}:cancel`,
    `${own}/events`,
    `/../${own}/..`,
    `${own}://x:y@h?`.replace('?', ''),
    `${own}${':/'.repeat(98)}`,
  ];
};

const parts = await forAllTests(TestStack.shared());
const { jobs } = parts;

async function start(token: string, name = 'slow_compute', args: object = { seconds: 0 }): Promise<void> {
  const { result, error } = await parts.client
    .with(TOKENS)
    .request('tools/call', { name, arguments: args, operation: { token } });
  if (error) throw new Error(`${token}: ${error.message}`);
  expect(result.operation.token).toBe(token);
}

test('is followed, collected and deleted under its token on every protocol', async () => {
  for (const token of tokens()) {
    await start(token);
    const done = await parts.client.with(TASKS).until(token, 'completed');
    expect(done.taskId).toBe(token);
    const client = await LegacyClient.open(parts.client.url, '2025-11-25', TOKENS);
    expect((await client.request('tools/async/result', { token })).result._operation).toEqual({ token });
    const uri = `longhaul://operations/${encodeURIComponent(token)}/result`;
    const { result } = await parts.client.request('resources/read', { uri });
    expect(JSON.parse(result.contents[0].text)).toMatchObject({ label: '' });
    const { body, status, headers } = await jobs.get(`/v1/jobs/${encodeURIComponent(token)}`);
    expect([status, body.job_id]).toEqual([200, token]);
    expect(headers.get('etag')).toBeTruthy();
    for (const link of [body.links.self, body.links.result, body.links.artifacts])
      expect([link, (await jobs.get(link)).status]).toEqual([link, 200]);
    expect((await jobs.post(`${body.links.self}:delete`, {})).status).toBe(204);
    expect((await jobs.get(body.links.self)).status).toBe(404);
  }
});

test('the command line reads and deletes an operation under its token', async () => {
  const [token = ''] = tokens();
  await start(token);
  await jobs.until(encodeURIComponent(token), 'succeeded');
  const { code, stdout } = await run(parts, ['status', token, '--json']);
  expect([code, JSON.parse(stdout).taskId]).toEqual([0, token]);
  const deleted = await run(parts, ['delete', token]);
  expect([deleted.code, deleted.stdout.trim()]).toEqual([0, `${token} is deleted`]);
});

test('the verb of an address follows its last colon as it is; a colon of the ID may be written as it is or as %3A', async () => {
  const own = randomUUID();
  const [plain, verb] = [`arn:aws:${own}`, `arn:aws:${own}:cancel`];
  await start(plain, 'slow_compute', { seconds: 600 });
  await start(verb, 'slow_compute', { seconds: 600 });
  const stateOf = async (token: string) => (await jobs.get(`/v1/jobs/${encodeURIComponent(token)}`)).body;
  // Unencoded: the ARN is read, and canceled.
  expect((await jobs.get(`/v1/jobs/${plain}`)).body.job_id).toBe(plain);
  const cancelled = await jobs.post(`/v1/jobs/${plain}:cancel`, {});
  expect([202, 200]).toContain(cancelled.status);
  expect(cancelled.body.job_id).toBe(plain);
  expect(cancelled.headers.get('location')).toBe(`/v1/jobs/${encodeURIComponent(plain)}`);
  expect((await stateOf(verb)).cancel_requested).toBe(false);
  // The ID that ends like a verb.
  expect((await jobs.get(`/v1/jobs/${encodeURIComponent(verb)}`)).body.job_id).toBe(verb);
  expect((await jobs.get(`/v1/jobs/${verb}`)).status).toBe(405);
  expect((await jobs.post(`/v1/jobs/${encodeURIComponent(verb)}`, {})).status).toBe(405);
  expect((await stateOf(verb)).cancel_requested).toBe(false);
  for (const path of [`/v1/jobs/${verb}:cancel`, (await stateOf(verb)).links.cancel]) {
    const { status, body } = await jobs.post(path, {});
    expect([path, [200, 202].includes(status), body.job_id]).toEqual([path, true, verb]);
  }
  await jobs.until(encodeURIComponent(verb), 'canceled');
  expect((await jobs.post(`/v1/jobs/${verb}:delete`, {})).status).toBe(204);
  expect((await jobs.post(`/v1/jobs/${encodeURIComponent(plain)}:resume`, {})).status).toBe(409);
});

test('in an address with a verb, an encoded slash belongs to the ID, and one as it is to the path', async () => {
  const token = `${randomUUID()}/events`;
  await start(token);
  await jobs.until(encodeURIComponent(token), 'succeeded');
  expect((await jobs.get(`/v1/jobs/${token}`)).status).toBe(404);
  const events = await jobs.get(`/v1/jobs/${encodeURIComponent(token)}/events`);
  expect(events.status).toBe(200);
  expect(events.body).toContain(token);
});

test.each(['.', '..', '', 'a b', 'a%2Fb', 'a?b', 'a#b', 'a\\b', 'é', 'x'.repeat(233)])(
  'a token %j is refused, and nothing has it',
  async (token) => {
    await expect(start(token)).rejects.toThrow('params.operation.token: expected 1 to 232 characters of');
    for (const [method, params] of [
      ['tasks/get', { taskId: token }],
      ['tasks/cancel', { taskId: token }],
      ['tools/call', { name: 'operation_get', arguments: { token } }],
    ] as const) {
      const { error, result } = await parts.client.with(TASKS).request(method, params, {
        ...('taskId' in params ? { 'mcp-name': `=?base64?${Buffer.from(token).toString('base64')}?=` } : {}),
      });
      expect(error?.code ?? result.isError).toEqual(error ? -32602 : true);
    }
    const { status } = await jobs.get(`/v1/jobs/${encodeURIComponent(token)}/result`);
    expect(status).toBe(404);
  },
);

test('a token of 1,000 characters that need four bytes each is not found, and no internal error', async () => {
  const { result } = await parts.client.call('operation_get', { token: '😀'.repeat(500) });
  expect(result).toMatchObject({ isError: true, _meta: { 'longhaul/error': { kind: 'not_found' } } });
});
