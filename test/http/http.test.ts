/** HTTP itself (RFC 9110), on the paths of every protocol: negotiation, codings, methods, slashes. */
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { expectProblem } from '../http-jobs/support.js';
import { LegacyClient } from '../revision-2025-11-25/wire.js';
import { forAllTests } from '../support/for-all-tests.js';
import { TASKS } from '../support/mcp.js';
import { TestStack } from '../support/test-stack.js';

const UNKNOWN = '0'.repeat(32);
const JSON_TYPE = { 'content-type': 'application/json' };

const parts = await forAllTests(TestStack.shared());
const { jobs } = parts;

test.each(['*/*', 'application/json'])('Accept %s is served in 2026-07-28', async (accept) => {
  const client = parts.client.with(TASKS);
  const headers = { accept };
  expect((await client.request('tools/list', {}, headers)).result.tools.length).toBeGreaterThan(1);
  const call = { name: 'slow_compute', arguments: { seconds: 0 } };
  const { result } = await client.request('tools/call', call, headers);
  expect(result.resultType).toBe('task');
  const { taskId } = result;
  expect((await client.request('tasks/get', { taskId }, headers)).result).toMatchObject({ taskId });
  await client.until(taskId, 'completed');
});

test.each([
  ['text/html', 'application/json'],
  ['application/json;q=0.5, text/markdown', 'text/markdown'],
])('Accept %s gets a tool as %s from the jobs API', async (accept, type) => {
  const { status, headers } = await jobs.get('/v1/tools/slow_compute', { accept });
  expect([status, headers.get('content-type')]).toEqual([200, expect.stringContaining(type)]);
});

test('a slash at the end of a path counts for nothing', async () => {
  const client = await LegacyClient.open(`${parts.base}/mcp/`);
  expect((await client.request('ping')).result).toEqual({});
  for (const path of ['/v1/jobs/', '/v1/tools/', '/v1/tools/greet/', '/healthz/', '/docs/', '/openapi.json/'])
    expect([path, (await jobs.get(path)).status]).toEqual([path, 200]);
  const started = await jobs.post('/v1/tools/slow_compute/jobs/', { seconds: 0 });
  expect([200, 202]).toContain(started.status);
  expect((await jobs.get(`/v1/jobs/${started.body.job_id}/`)).status).toBe(200);
  expectProblem(await jobs.get('/v1/nothing/'), 'unknown-route', 404);
});

describe('a body with a content coding', () => {
  const codings = ['gzip', 'deflate', 'br', 'GZIP', 'identity, gzip'];

  test('is refused by the MCP endpoint, with the coding that it takes', async () => {
    for (const coding of codings) {
      const body = gzipSync(JSON.stringify(parts.client.envelope('tools/list')));
      const headers = { ...parts.client.headers('tools/list'), 'content-encoding': coding };
      const response = await fetch(parts.client.url, { method: 'POST', headers, body });
      expect([response.status, response.headers.get('accept-encoding')]).toEqual([415, 'identity']);
      expect(await response.json()).toMatchObject({
        error: { code: -32000, message: expect.stringContaining(`Content-Encoding: expected none; got `) },
      });
    }
  });

  test('is refused by the jobs API, wherever it takes a body', async () => {
    for (const coding of codings)
      for (const [method, path] of [
        ['POST', '/v1/tools/greet/jobs'],
        ['POST', '/v1/jobs'],
        ['POST', `/v1/jobs/${UNKNOWN}/input`],
        ['POST', `/v1/jobs/${UNKNOWN}:cancel`],
        ['DELETE', `/v1/jobs/${UNKNOWN}`],
      ] as const) {
        const headers = { ...JSON_TYPE, 'content-encoding': coding };
        const refused = await jobs.request(method, path, { headers, body: gzipSync('{}') });
        expectProblem(refused, 'unsupported-media-type', 415);
        expect(refused.headers.get('accept-encoding')).toBe('identity');
      }
  });

  test('of identity is served', async () => {
    const headers = { 'content-encoding': 'identity' };
    expect([200, 202]).toContain((await jobs.kickOff('slow_compute', { seconds: 0 }, headers)).status);
    const answer = await parts.client.request('tools/list', {}, headers);
    expect(answer.result.tools.length).toBeGreaterThan(1);
  });
});

describe('methods', () => {
  const ALLOWED: [path: string, allow: string][] = [
    ['/mcp', 'GET, HEAD, POST'],
    ['/healthz', 'GET, HEAD'],
    ['/readyz', 'GET, HEAD'],
    ['/openapi.json', 'GET, HEAD'],
    ['/docs', 'GET, HEAD'],
    ['/v1/tools', 'GET, HEAD'],
    ['/v1/tools/greet/jobs', 'POST'],
    ['/v1/jobs', 'GET, HEAD, POST'],
    [`/v1/jobs/${UNKNOWN}`, 'DELETE, GET, HEAD'],
    [`/v1/jobs/${UNKNOWN}:cancel`, 'POST'],
    [`/v1/jobs/${UNKNOWN}/events`, 'GET, HEAD'],
  ];
  const allowOf = ({ headers }: { headers: Headers }) =>
    headers.get('allow')?.split(', ').sort().join(', ') ?? '';

  test.each(ALLOWED)('%s: others are 405 with Allow, and OPTIONS is 204 with it', async (path, allow) => {
    for (const method of ['PUT', 'PATCH']) {
      const refused = await jobs.request(method, path);
      expect([method, refused.status, allowOf(refused)]).toEqual([method, 405, allow]);
    }
    const options = await jobs.request('OPTIONS', path);
    expect([options.status, allowOf(options), options.body]).toEqual([204, allow, '']);
  });

  test('OPTIONS of an unknown path is 404', async () => {
    expectProblem(await jobs.request('OPTIONS', '/v1/nothing'), 'unknown-route', 404);
  });

  test('HEAD has the status and type of GET, without a body, also where GET is a stream', async () => {
    const id = await jobs.start('slow_compute', { seconds: 600 });
    for (const path of ['/healthz', '/openapi.json', '/v1/tools', '/v1/jobs', `/v1/jobs/${id}`]) {
      const [got, head] = [await jobs.get(path), await jobs.request('HEAD', path)];
      expect([path, head.status, head.body]).toEqual([path, got.status, '']);
      expect(head.headers.get('content-type')).toBe(got.headers.get('content-type'));
    }
    const events = await jobs.request('HEAD', `/v1/jobs/${id}/events`);
    expect([events.status, events.body]).toEqual([200, '']);
    expect(events.headers.get('content-type')).toContain('text/event-stream');
    await jobs.post(`/v1/jobs/${id}:cancel`);
    // GET is only for sessions of the older revisions.
    expect((await jobs.request('HEAD', '/mcp')).status).toBe(405);
  });
});

describe('an invalid message is refused with the name of its member', () => {
  const WRONG: [message: object, problem: string][] = [
    [{ jsonrpc: '2.0', id: 7, method: 'tools/list', params: null }, 'params: expected an object; got null'],
    [{ jsonrpc: '2.0', id: 7, method: 'tools/list', params: [] }, 'params: expected an object; got []'],
    [{ jsonrpc: '2.0', id: 7, method: null }, 'method: expected a string; got null'],
    [{ id: 7, method: 'tools/list' }, 'jsonrpc: expected "2.0"; got nothing'],
  ];

  test.each(WRONG)('%j', async (message, problem) => {
    const refused = {
      ...{ jsonrpc: '2.0', id: 7 },
      error: { code: -32600, message: `Invalid Request: ${problem}` },
    };
    const older = await LegacyClient.open(parts.client.url);
    const listening = parts.client.headers('subscriptions/listen');
    for (const headers of [older.headers(), JSON_TYPE, parts.client.headers('tools/list'), listening]) {
      const response = await parts.client.post(JSON.stringify(message), headers);
      expect([response.status, await response.json()]).toEqual([400, refused]);
    }
  });
});
