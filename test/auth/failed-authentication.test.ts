/** Requests without a valid credential: counts of unknown ones by address, and what a flood of them leaves in logs. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import { OAuthError, OAuthErrorCode } from '@modelcontextprotocol/server';
import { Audit } from '../../mcp-server/audit/index.js';
import { MAX_FAILURES } from '../../mcp-server/limits/failed-authentications.js';
import { addApiKey, revokeApiKey } from '../../mcp-server/auth/key-store.js';
import { selectAuditLines } from '../../mcp-server/audit/log/select.js';
import { loadSettings } from '../../platform/settings/index.js';
import { createLogger } from '../../platform/observe/log.js';
import { forAllTests, temporaryFolder } from '../support/for-all-tests.js';
import { WireClient } from '../support/mcp.js';
import { TestStack } from '../support/test-stack.js';

const UNKNOWN = `lh_000000000000_${'x'.repeat(43)}`;

let addresses = 0;
/** Answers so far to requests without a valid credential. */
let refused = 0;

const home = temporaryFolder('failed-authentication');
const keysFolder = join(home, 'keys');
const audit = join(home, 'audit');
const [key] = addApiKey(keysFolder, { tenant: 'acme', subject: 'alice' });
// Own server: with API keys, an audit log, and this process as its proxy.
const stack = await forAllTests(
  TestStack.serverOnSharedWorker({
    LONGHAUL_AUTHENTICATION: 'keys',
    LONGHAUL_KEYS_FOLDER: keysFolder,
    LONGHAUL_AUDIT_LOG: audit,
    LONGHAUL_TRUSTED_PROXIES: '127.0.0.1',
  }),
);

/** An address that no test has used. */
const newAddress = () => `203.0.113.${(addresses += 1)}`;

/** A request of a client behind the proxy. */
async function ask(
  path: string,
  address: string,
  credential?: string,
  init: RequestInit = {},
): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set('x-forwarded-for', address);
  if (credential !== undefined) headers.set('authorization', `Bearer ${credential}`);
  const response = await fetch(stack.base + path, { ...init, headers });
  if ([401, 429].includes(response.status)) refused += 1;
  return response;
}

const listTools = (address: string, credential?: string) => {
  const client = new WireClient(`${stack.base}/mcp`);
  const body = JSON.stringify(client.envelope('tools/list'));
  return ask('/mcp', address, credential, { method: 'POST', body, headers: client.headers('tools/list') });
};

/** Statuses of many requests, each once. */
async function statusesOf(count: number, request: (index: number) => Promise<Response>): Promise<number[]> {
  const responses = await Promise.all(Array.from({ length: count }, (_, index) => request(index)));
  await Promise.all(responses.map((response) => response.text()));
  return [...new Set(responses.map(({ status }) => status))];
}

const fail = (address: string, count = MAX_FAILURES) =>
  statusesOf(count, () => ask('/v1/jobs', address, UNKNOWN));

const REQUESTS: Record<string, (address: string, credential: string) => Promise<Response>> = {
  'MCP 2026-07-28': listTools,
  'stream of a session': (address, credential) =>
    ask('/mcp', address, credential, { headers: { 'last-event-id': 'x', accept: 'text/event-stream' } }),
  'list of jobs': (address, credential) => ask('/v1/jobs', address, credential),
  'start of a job': (address, credential) =>
    ask('/v1/tools/slow_compute/jobs', address, credential, { method: 'POST', body: '{}' }),
  'events of a job': (address, credential) => ask('/v1/jobs/none/events', address, credential),
  'OpenAPI document': (address, credential) => ask('/openapi.json', address, credential),
};

test('unknown keys of all requests from an address count together, and are answered 429 beyond the limit', async () => {
  const address = newAddress();
  const requests = Object.values(REQUESTS);
  expect(
    await statusesOf(MAX_FAILURES, (index) => requests[index % requests.length]!(address, UNKNOWN)),
  ).toEqual([401]);
  for (const [name, request] of Object.entries(REQUESTS)) {
    const response = await request(address, UNKNOWN);
    const seconds = Number(response.headers.get('retry-after'));
    expect([name, response.status, seconds > 0 && seconds <= 60]).toEqual([name, 429, true]);
  }
  const message = `expected at most ${MAX_FAILURES} requests with unknown credentials from an address in 60 s; got more; try again in`;
  expect(await (await listTools(address, 'no-key')).json()).toMatchObject({
    error: { code: -32000, message: expect.stringContaining(message), data: { kind: 'rate_limited' } },
  });
  expect(await (await ask('/v1/jobs', address, UNKNOWN)).json()).toMatchObject({
    type: '/problems/rate-limited',
    retryable: true,
    detail: expect.stringContaining(message),
  });
});

test("beyond an address's limit a valid key passes, health is answered, and a missing key is asked for", async () => {
  const address = newAddress();
  await fail(address, MAX_FAILURES + 20);
  expect((await ask('/v1/jobs', address, UNKNOWN)).status).toBe(429);
  expect(await statusesOf(MAX_FAILURES, () => ask('/v1/tools', address, key))).toEqual([200]);
  expect((await listTools(address, key)).status).toBe(200);
  for (const path of ['/healthz', '/readyz']) expect((await ask(path, address, UNKNOWN)).status).toBe(200);
  const missing = await listTools(address);
  expect([missing.status, missing.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="longhaul"']);
});

test('other addresses have counts of their own; an IPv6 network is one address', async () => {
  const address = newAddress();
  await fail(address);
  expect((await ask('/v1/jobs', address, UNKNOWN)).status).toBe(429);
  expect((await ask('/v1/jobs', newAddress(), UNKNOWN)).status).toBe(401);
  await statusesOf(MAX_FAILURES, (index) => ask('/v1/jobs', `2001:db8::${index.toString(16)}`, UNKNOWN));
  expect((await ask('/v1/jobs', '2001:db8::ffff:1', UNKNOWN)).status).toBe(429);
  expect((await ask('/v1/jobs', '2001:db8:0:1::1', UNKNOWN)).status).toBe(401);
});

test('requests without a key, or with one that was revoked or has expired, are no guesses', async () => {
  const address = newAddress();
  const [revoked, { id }] = addApiKey(keysFolder, { tenant: 'acme', subject: 'bob' });
  revokeApiKey(keysFolder, id);
  const expiresAt = new Date(Date.now() - 1_000).toISOString();
  const [expired] = addApiKey(keysFolder, { tenant: 'acme', subject: 'carol', expiresAt });
  for (const credential of [undefined, revoked, expired])
    expect(await statusesOf(MAX_FAILURES + 1, () => ask('/v1/jobs', address, credential))).toEqual([401]);
  expect((await ask('/v1/jobs', address, UNKNOWN)).status).toBe(401);
  // The ID of a key isn't secret.
  const guess = `${key.slice(0, 16)}${'x'.repeat(43)}`;
  await statusesOf(MAX_FAILURES, () => ask('/v1/jobs', address, guess));
  expect((await ask('/v1/jobs', address, guess)).status).toBe(429);
  expect((await ask('/v1/jobs', address, revoked)).status).toBe(401);
});

test('a damaged key and many unknown ones are logged, but not for each request', async () => {
  const [damaged, { id }] = addApiKey(keysFolder, { tenant: 'acme', subject: 'dave' });
  writeFileSync(join(keysFolder, `${id}.json`), '{');
  await statusesOf(20, () => ask('/v1/jobs', newAddress(), damaged));
  await fail(newAddress(), MAX_FAILURES + 20);
  const output = stack.parts[0]!.output();
  for (const line of ['an API key cannot be read', 'many unknown credentials come from an address']) {
    const lines = output.split(line).length - 1;
    expect([line, lines > 0, lines < 20]).toEqual([line, true, true]);
  }
});

test('the audit log counts each refusal; one that is over the limit says so', async () => {
  await stack.stop();
  const lines = await selectAuditLines(audit, { event: 'authentication.refused' });
  expect(lines.reduce((sum, { suppressed }) => sum + (suppressed ?? 1), 0)).toBe(refused);
  expect(new Set(lines.map(({ outcome }) => outcome))).toEqual(
    new Set(['invalid_token', 'no_credential', 'rate_limited']),
  );
});

test('a flood of a minute makes few audit lines, from one address or from many', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  const folder = join(home, 'flood');
  const settings = await loadSettings({ home, auditLog: folder }, {}, '/');
  const log = Audit.open(settings, createLogger('test', 'silent'))!;
  const error = new OAuthError(OAuthErrorCode.InvalidToken, 'unknown');
  for (let second = 0; second < 60; second += 1) {
    for (let request = 0; request < 200; request += 1) {
      const origin = { protocol: 'http-jobs', transport: 'http' as const };
      log.refusedAuthentication({ ...origin, address: '192.0.2.1' }, undefined, error);
      const host = (second * 200 + request).toString(16);
      log.refusedAuthentication({ ...origin, address: `2001:db8:0:${host}::1` }, 'Bearer x', error);
    }
    jest.advanceTimersByTime(1_000);
  }
  jest.useRealTimers();
  await log.close();
  const lines = await selectAuditLines(folder, { event: 'authentication.refused' });
  expect(lines.reduce((sum, { suppressed }) => sum + (suppressed ?? 1), 0)).toBe(60 * 400);
  // 5 lines for each of 50 addresses and for all others together, and the counts.
  expect(lines.length).toBeLessThan(51 * 6 * 2);
});
