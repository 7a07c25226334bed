import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { eventually } from '../stack/cli-process.js';
import { forAllTests } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';
import { expectProblem } from './support.js';
import type { JobsClient } from '../support/jobs.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const UNKNOWN = '0'.repeat(32);

const parts = await forAllTests(TestStack.shared());
const { jobs } = parts;

test('nothing is started by a kickoff that is refused', async () => {
  const path = '/v1/tools/greet/jobs';
  const session = randomUUID();
  const ada = { name: 'Ada' };
  const post: JobsClient['post'] = (to, body, headers) =>
    jobs.post(to, body, { 'longhaul-session': session, ...headers });
  const cases: [type: string, status: number, answer: () => ReturnType<JobsClient['post']>][] = [
    ['invalid-json', 400, () => post(path, '{"name": ', {})],
    ['invalid-arguments', 400, () => post(path, '', JSON_TYPE)],
    ['invalid-request', 400, () => post(path, '[1]')],
    ['invalid-request', 400, () => post('/v1/jobs', { tool: 'greet', arguments: ada, more: 1 })],
    ['invalid-request', 400, () => post('/v1/jobs', {})],
    ['invalid-request', 400, () => post(`${path}?more=1`, ada)],
    ['invalid-request', 400, () => post(`${path}?keep_alive_seconds=forever`, ada)],
    ['invalid-arguments', 400, () => post(path, { name: 7 })],
    ['invalid-arguments', 400, () => post(path)],
    ['invalid-arguments', 400, () => post(path, { ...ada, idempotency_key: null })],
    ['unknown-tool', 404, () => post('/v1/tools/nope/jobs', {})],
    ['unsupported-media-type', 415, () => post(path, 'name=Ada', { 'content-type': 'text/plain' })],
    ['invalid-idempotency-key', 400, () => post(path, ada, { 'idempotency-key': '' })],
    ['invalid-idempotency-key', 400, () => post(path, ada, { 'idempotency-key': '""' })],
    ['invalid-idempotency-key', 400, () => post(path, ada, { 'idempotency-key': 'k'.repeat(256) })],
    ['invalid-idempotency-key', 400, () => post(path, ada, { 'idempotency-key': 'ké' })],
    ['invalid-session', 400, () => jobs.post(path, ada, { 'longhaul-session': 's'.repeat(201) })],
    ['invalid-session', 400, () => jobs.post(path, ada, { 'mcp-session-id': 'made-up' })],
    ['too-large', 413, () => post(path, { name: 'x'.repeat(5 * 1024 * 1024) })],
    ['too-large', 413, () => post(path, { name: 'x'.repeat(1024 * 1024 + 1) })],
  ];
  for (const [type, status, answer] of cases) expectProblem(await answer(), type, status);
  const taken = await post(path, ada, { 'idempotency-key': `${session}${'k'.repeat(219)}` });
  expect(taken.status).toBe(200);
  const listed = await eventually('it is listed', async () => {
    const { body } = await jobs.get(`/v1/jobs?session=${session}`);
    return body.jobs.length > 0 && body.jobs;
  });
  expect(listed.map(({ job_id }: any) => job_id)).toEqual([taken.body.job_id]);
});

test('a refusal says where, what was expected and what came', async () => {
  const { body } = await jobs.post('/v1/jobs', { tool: 7, more: true });
  expect(body.errors).toEqual([
    expect.objectContaining({ at: 'body.tool', detail: expect.stringContaining('expected string') }),
    expect.objectContaining({ at: 'body', detail: expect.stringContaining('more') }),
  ]);
  const { body: key } = await jobs.kickOff('greet', { name: 'A' }, { 'idempotency-key': 'k'.repeat(300) });
  expect(key.detail).toBe('Idempotency-Key: expected 1 to 255 visible ASCII characters; got 300');
});

test('a body of 5 MiB is refused wherever one is taken, also when it comes in chunks', async () => {
  for (const path of [`/v1/jobs/${UNKNOWN}:cancel`, `/v1/jobs/${UNKNOWN}/input`, '/v1/jobs']) {
    expectProblem(await jobs.post(path, JSON.stringify('x'.repeat(5 * 1024 * 1024))), 'too-large', 413);
    const chunked = await jobs.request('POST', path, {
      headers: JSON_TYPE,
      body: new Blob(['"', 'x'.repeat(5 * 1024 * 1024), '"']).stream(),
      duplex: 'half',
    });
    expectProblem(chunked, 'too-large', 413);
  }
});

test('an unknown job and an invalid ID get the same answer', async () => {
  for (const id of [UNKNOWN, 'a%2Fb', 'ü', 'x'.repeat(2_000)]) {
    const answers = [
      await jobs.get(`/v1/jobs/${id}`),
      await jobs.get(`/v1/jobs/${id}?wait=1`),
      await jobs.get(`/v1/jobs/${id}/result`),
      await jobs.get(`/v1/jobs/${id}/partial`),
      await jobs.get(`/v1/jobs/${id}/logs`),
      await jobs.get(`/v1/jobs/${id}/logs/a%2F1`),
      await jobs.get(`/v1/jobs/${id}/artifacts`),
      await jobs.get(`/v1/jobs/${id}/artifacts/a`),
      await jobs.post(`/v1/jobs/${id}/input`, { key: 'k', value: {} }),
      await jobs.post(`/v1/jobs/${id}:cancel`),
      await jobs.post(`/v1/jobs/${id}:resume`),
      await jobs.request('DELETE', `/v1/jobs/${id}`),
    ];
    for (const answer of answers) expectProblem(answer, 'job-not-found', 404);
    expect(new Set(answers.map(({ body }) => body.detail)).size).toBe(1);
  }
});

test('bodies of addresses with a verb are checked as any other', async () => {
  const path = `/v1/jobs/${UNKNOWN}:cancel`;
  expectProblem(await jobs.post(path, '{'), 'invalid-json', 400);
  expectProblem(await jobs.post(path, { reason: 7 }), 'invalid-request', 400);
  expectProblem(await jobs.post(path, { why: 'so' }), 'invalid-request', 400);
  expectProblem(await jobs.post(path, '{}', { 'content-type': 'text/plain' }), 'unsupported-media-type', 415);
  expectProblem(await jobs.request('DELETE', `/v1/jobs/${UNKNOWN}?why=so`), 'invalid-request', 400);
});

test('a bad wait, filter or cursor is refused', async () => {
  for (const query of ['wait=61', 'wait=-1', 'wait=x', 'wait=', 'more=1'])
    expectProblem(await jobs.get(`/v1/jobs/${UNKNOWN}?${query}`), 'invalid-request', 400);
  for (const query of [
    'status=done',
    'limit=0',
    'limit=101',
    'tool=a-b',
    'created_after=yesterday',
    'session=%C3%A9',
    `idempotency_key=${'k'.repeat(256)}`,
    'cursor=a.b',
    'more=1',
  ])
    expectProblem(await jobs.get(`/v1/jobs?${query}`), 'invalid-request', 400);
  expectProblem(await jobs.get('/v1/jobs?cursor=AAAA'), 'invalid-cursor', 400);
});

test('quotes and backslashes in a filter are just characters', async () => {
  for (const text of ["'", '\\', "\\' OR LonghaulTool = 'greet", '"', '%', "' OR '1'='1"]) {
    const { status, body } = await jobs.get(`/v1/jobs?idempotency_key=${encodeURIComponent(text)}`);
    expect({ text, status, body }).toEqual({ text, status: 200, body: { jobs: [] } });
  }
});

test('unknown addresses and methods', async () => {
  expectProblem(await jobs.get('/v1/nothing'), 'unknown-route', 404);
  expectProblem(await jobs.get('/problems/nothing'), 'unknown-route', 404);
  for (const [method, path, allow] of [
    ['PUT', '/v1/jobs', 'GET, HEAD, POST'],
    ['PATCH', `/v1/jobs/${UNKNOWN}`, 'DELETE, GET, HEAD'],
    ['GET', `/v1/jobs/${UNKNOWN}:cancel`, 'POST'],
    ['POST', `/v1/jobs/${UNKNOWN}:explode`, 'DELETE, GET, HEAD'],
  ]) {
    const answer = await jobs.request(method!, path!);
    expectProblem(answer, 'method-not-allowed', 405);
    expect(answer.headers.get('allow')!.split(', ').sort().join(', ')).toBe(allow);
  }
});

test('an address that is too long is refused with a problem, not with a broken connection', async () => {
  expectProblem(await jobs.get(`/v1/jobs?cursor=${'a'.repeat(100_000)}`), 'headers-too-large', 431);
});
