/** Lists: cursors that no page gave are refused wherever one is taken, and there are no prompts. */
import { expect, test } from '@jest/globals';
import { expectProblem } from '../http-jobs/support.js';
import { LegacyClient, VERSIONS } from '../revision-2025-11-25/wire.js';
import { forAllTests, inSetUp } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';

const LISTS = ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list'];
const INVALID = ['made-up', '', 'eyJwYWdlIjogM30=', 7];

const parts = await forAllTests(TestStack.shared());
const { jobs } = parts;
const token = await inSetUp(jobs.start('slow_compute', { seconds: 0 }));
await inSetUp(jobs.until(token, 'succeeded'));

test.each(VERSIONS)('lists of one page refuse any cursor with -32602, in %s', async (version) => {
  const client = await LegacyClient.open(parts.client.url, version);
  for (const method of LISTS) {
    for (const cursor of INVALID)
      expect([method, (await client.request(method, { cursor })).error]).toMatchObject([
        method,
        { code: -32602, message: expect.stringContaining('cursor') },
      ]);
    expect((await client.request(method, { cursor: null })).error).toBeUndefined();
  }
});

test('lists of one page refuse any cursor with -32602, in 2026-07-28', async () => {
  for (const method of LISTS)
    for (const cursor of INVALID)
      expect([method, (await parts.client.request(method, { cursor })).error]).toMatchObject([
        method,
        { code: -32602, message: expect.stringContaining('cursor') },
      ]);
});

test('lists of operations and logs refuse a cursor that no page gave, or that was changed', async () => {
  const page = await jobs.get('/v1/jobs?limit=1');
  const cursor = page.body.next_cursor as string | undefined;
  const made = [
    'made-up',
    ...(cursor === undefined ? [] : [`${cursor}!`, `${cursor}=`, cursor.slice(0, -1)]),
  ];
  const call = async (name: string, args: object) => (await parts.client.call(name, args)).result;
  for (const one of made) {
    const refused = { isError: true, _meta: { 'longhaul/error': { kind: 'invalid_arguments' } } };
    expect(await call('operation_list', { cursor: one })).toMatchObject(refused);
    expect(await call('operation_get', { token, view: 'logs', cursor: one })).toMatchObject(refused);
  }
  // Characters that are no base64url were ignored.
  const position = Buffer.from('{"step":"operation","line":1,"offset":0}').toString('base64url');
  const changed = await call('operation_get', { token, view: 'logs', cursor: `${position}!` });
  expect(changed.content[0].text).toContain('cursor: expected one from an earlier page of this log');
  for (const path of ['/v1/jobs', `/v1/jobs/${token}/logs/operation`]) {
    expectProblem(await jobs.get(`${path}?cursor=AAAA`), 'invalid-cursor', 400);
    expectProblem(await jobs.get(`${path}?cursor=`), 'invalid-request', 400);
  }
  const uri = `longhaul://operations/${token}/logs/operation?cursor=AAAA`;
  expect((await parts.client.request('resources/read', { uri })).error).toMatchObject({ code: -32602 });
});

const UNKNOWN_PROMPT = { code: -32602, message: expect.stringContaining('unknown prompt "summary"') };

test('2026-07-28 lists no prompts, with caching hints and without the capability, and gets none', async () => {
  const { client } = parts;
  const { result } = await client.request('prompts/list');
  expect(result).toMatchObject({ prompts: [], ttlMs: expect.any(Number), cacheScope: expect.any(String) });
  const discovered = await client.request('server/discover');
  expect(discovered.result.capabilities).not.toHaveProperty('prompts');
  expect((await client.request('prompts/get', { name: 'summary' })).error).toMatchObject(UNKNOWN_PROMPT);
  expect((await client.request('prompts/get')).error).toMatchObject({ code: -32602 });
});

test.each(VERSIONS)('%s lists no prompts, without the capability, and gets none', async (version) => {
  const client = new LegacyClient(parts.client.url, version);
  expect((await client.initialize()).capabilities).not.toHaveProperty('prompts');
  expect((await client.request('prompts/list')).result).toEqual({ prompts: [] });
  expect((await client.request('prompts/get', { name: 'summary' })).error).toMatchObject(UNKNOWN_PROMPT);
  expect((await client.request('prompts/get')).error).toMatchObject({ code: -32602 });
});
