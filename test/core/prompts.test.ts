import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { LegacyClient, VERSIONS } from '../revision-2025-11-25/wire.js';
import { PROCESSES_MS } from '../support/limits.js';
import { TestStack } from '../support/test-stack.js';

jest.setTimeout(PROCESSES_MS);

let parts: TestStack;
beforeAll(async () => {
  parts = await TestStack.shared();
});
afterAll(() => parts?.stop());

const UNKNOWN = { code: -32602, message: expect.stringContaining('unknown prompt "summary"') };

test('2026-07-28 lists no prompts, with caching hints and without the capability, and gets none', async () => {
  const { client } = parts;
  const { result } = await client.request('prompts/list');
  expect(result).toMatchObject({ prompts: [], ttlMs: expect.any(Number), cacheScope: expect.any(String) });
  const discovered = await client.request('server/discover');
  expect(discovered.result.capabilities).not.toHaveProperty('prompts');
  expect((await client.request('prompts/get', { name: 'summary' })).error).toMatchObject(UNKNOWN);
  expect((await client.request('prompts/get')).error).toMatchObject({ code: -32602 });
});

test.each(VERSIONS)('%s lists no prompts, without the capability, and gets none', async (version) => {
  const client = new LegacyClient(parts.client.url, version);
  expect((await client.initialize()).capabilities).not.toHaveProperty('prompts');
  expect((await client.request('prompts/list')).result).toEqual({ prompts: [] });
  expect((await client.request('prompts/get', { name: 'summary' })).error).toMatchObject(UNKNOWN);
  expect((await client.request('prompts/get')).error).toMatchObject({ code: -32602 });
});
