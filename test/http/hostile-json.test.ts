/** JSON that would hold the server, overflow its stack or not survive Temporal: refused on every route, before it is parsed. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { check } from '../../operations/tool/schema.js';
import type { JsonRefusal } from '../../mcp-server/json/index.js';
import { parseJson } from '../../mcp-server/json/index.js';
import { forAllTests } from '../support/for-all-tests.js';
import { LegacyClient } from '../revision-2025-11-25/wire.js';
import { TASKS } from '../support/mcp.js';
import { TestStack } from '../support/test-stack.js';
import {
  bodyOf,
  lists,
  members,
  refusesEverything,
  refusesNulls,
  SURROGATE,
  TOO_LARGE,
  type Send,
} from './hostile-json.js';

const parts = await forAllTests(TestStack.shared());

const current: Send = async (method, params) => {
  const client = parts.client.with(TASKS);
  const { _meta } = client.envelope(method).params;
  const [, name] = /"(?:name|taskId|uri)":"([a-z_]+)"/.exec(params) ?? [];
  const body = bodyOf(method, `"_meta":${JSON.stringify(_meta)},${params}`);
  const response = await client.post(body, client.headers(method, { name }));
  return { status: response.status, ...((await response.json()) as object) };
};

const older: Send = async (method, params) => {
  const client = await LegacyClient.open(parts.client.url, '2025-11-25', {});
  const response = await client.post(bodyOf(method, params));
  const text = await response.text();
  const isStream = response.headers.get('content-type')?.includes('event-stream');
  return { status: response.status, ...JSON.parse(isStream ? text.split('data: ').at(-1)! : text) };
};

const OVER_HTTP: [string, Send][] = [
  ['2026-07-28 over HTTP', current],
  ['2025-11-25 over HTTP', older],
];

describe.each(OVER_HTTP)('%s', (_name, send) => {
  test('what is too deep, too many or no Unicode text is refused, with the ID of its request', async () => {
    await refusesEverything(async (method, params) => {
      const answer = await send(method, params);
      expect(answer).toMatchObject({ status: 400, id: 7 });
      return answer;
    });
  });

  test('null for what is required is -32602 and names it', () => refusesNulls(send));
});

test('subscriptions/listen and batches are refused in the same way', async () => {
  for (const [, json, message] of TOO_LARGE) {
    const listened = await current('subscriptions/listen', `"notifications":{"taskIds":${json}}`);
    expect(listened).toMatchObject({
      status: 400,
      error: { code: -32600, message: expect.stringContaining(message) },
    });
    const client = await LegacyClient.open(parts.client.url, '2025-03-26', {});
    const batch = await client.post(`[${bodyOf('tools/list', `"x":${json}`)}]`);
    expect(await batch.json()).toMatchObject({
      error: { code: -32600, message: expect.stringMatching(/^message: expected at most/) },
    });
  }
});

test('bytes that are no UTF-8 are refused as what is no JSON', async () => {
  const latin1 = (text: string) => Buffer.from(text, 'latin1') as unknown as string;
  const { client } = parts;
  const body = JSON.stringify(
    client.envelope('tools/call', { name: 'greet', arguments: { name: 'Zo\u00eb' } }),
  );
  const older = await LegacyClient.open(client.url, '2025-11-25', {});
  for (const response of [
    await client.post(latin1(body), client.headers('tools/call', { name: 'greet' })),
    await fetch(client.url, {
      method: 'POST',
      headers: older.headers(),
      body: latin1(JSON.stringify(older.message('tools/call', { name: 'Zo\u00eb' }))),
    }),
  ]) {
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ id: null, error: { code: -32700 } });
  }
  const { jobs } = parts;
  const headers = { 'content-type': 'application/json' };
  for (const path of ['/v1/tools/greet/jobs', '/v1/jobs', '/v1/jobs/nonesuch:cancel'])
    expect(await jobs.request('POST', path, { headers, body: latin1('{"name":"Zo\u00eb"}') })).toMatchObject({
      status: 400,
      body: { type: '/problems/invalid-json', detail: 'body: expected UTF-8; got other bytes' },
    });
});

test('jobs over HTTP refuse it with 413 and 400, on every address that takes a body', async () => {
  const { jobs } = parts;
  const id = await jobs.start('slow_compute', { seconds: 0, label: randomUUID() });
  for (const [path, body] of [
    ['/v1/tools/slow_compute/jobs', (json: string) => `{"seconds":0,"label":${json}}`],
    ['/v1/jobs', (json: string) => `{"tool":"slow_compute","arguments":{"label":${json}}}`],
    [`/v1/jobs/${id}/input`, (json: string) => `{"key":"a","value":{"a":${json}}}`],
    [`/v1/jobs/${id}:cancel`, (json: string) => `{"reason":${json}}`],
    [`/v1/jobs/${id}:resume`, (json: string) => `{"changes":{"a":${json}}}`],
    [`/v1/jobs/${id}:delete`, (json: string) => `{"a":${json}}`],
  ] as const) {
    for (const [, json, message] of TOO_LARGE)
      expect(await jobs.post(path, body(json))).toMatchObject({
        status: 413,
        body: { type: '/problems/too-large', detail: expect.stringContaining(`body: ${message}`) },
      });
    const refused = await jobs.post(path, body('"\\ud800"'));
    expect([path, refused]).toMatchObject([
      path,
      {
        status: 400,
        body: { type: '/problems/invalid-request', detail: expect.stringContaining(SURROGATE) },
      },
    ]);
    const rounded = await jobs.post(path, body('[1e400]'));
    expect([path, rounded]).toMatchObject([
      path,
      {
        status: 400,
        body: { type: '/problems/invalid-request', detail: expect.stringContaining('0: expected a number') },
      },
    ]);
  }
  const many = await jobs.post(`/v1/jobs/${id}:delete`, members(9_000));
  expect(many).toMatchObject({ status: 400, body: { type: '/problems/invalid-request' } });
  expect(many.body.detail.length).toBeLessThan(1_000);
});

test('what is within the limits is taken', async () => {
  const label = '😀\ud83d\ude00 é';
  const large = {
    deep: JSON.parse(lists(55)) as unknown,
    many: JSON.parse(members(9_900)) as unknown,
    items: Array.from({ length: 35_000 }, (_, index) => index),
  };
  const { result } = await parts.client.call('slow_compute', large);
  const unknown = Object.keys(large).map((name) => `arguments.${name}: unknown; remove it`);
  expect(result.content[0].text.split('\n')).toEqual(expect.arrayContaining(unknown));
  const taskId = await parts.client.start('slow_compute', { seconds: 0, label });
  const done = await parts.client.until(taskId, 'completed');
  expect(done.result.structuredContent.label).toBe(label);
});

describe('the parser', () => {
  const refusal = (text: string): JsonRefusal => {
    try {
      parseJson(text);
    } catch (error) {
      return error as JsonRefusal;
    }
    throw new Error('it was taken');
  };

  test('counts only what is outside of strings', () => {
    const value = { a: '[[{{,,::', b: '\\', c: '\\"[', d: ['"'] };
    expect(parseJson(JSON.stringify(value))).toEqual(value);
    const quotes = JSON.stringify(`${'[{,:'.repeat(100_000)}"\\`);
    expect(parseJson(quotes)).toBe(JSON.parse(quotes));
  });

  test.each<[string, string | number | null]>([
    [`{"id":7,"x":${lists(100)}}`, 7],
    [`{"x":${lists(100)}, "id" : "a,\\"b" }`, 'a,"b'],
    [`{"x":{"id":1,"y":${lists(100)}}}`, null],
    [`{"y":"id","x":${lists(100)}}`, null],
    [`{"id":{"a":1},"x":${lists(100)}}`, null],
    [lists(100), null],
  ])('finds the ID of what it refuses: %#', (text, id) => {
    expect(refusal(text)).toMatchObject({ kind: 'too_large', id });
  });

  test.each(['', '{', '"', '"\\', '[[[', '{"a":1,}', 'NaN', ']'.repeat(100)])('%j is no JSON', (text) => {
    expect(refusal(text).kind).toBe('syntax');
  });
});

test('of many problems twenty are named, however large the value is', () => {
  const schema = { type: 'array', items: { type: 'string' } };
  const listed = (length: number) =>
    check(
      schema,
      Array.from({ length }, () => 1),
      'a',
    );
  expect(listed(45_000)).toHaveLength(21);
  const problems = listed(100);
  expect(problems).toHaveLength(21);
  expect(problems.at(-1)).toBe('a: and more problems');
});
