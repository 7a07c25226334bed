/** A server behind a gateway that authenticates callers, and says who they are by a signed JWT in a header of its own. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { exportJWK, exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT, type JWTPayload } from 'jose';
import { afterAllTests, forAllTests, inSetUp, temporaryFolder } from '../support/for-all-tests.js';
import { JobsClient } from '../support/jobs.js';
import { WireClient } from '../support/mcp.js';
import { TestStack } from '../support/test-stack.js';
import { acceptTokens } from './token-sources.js';

/** As Cloudflare Access sends it. */
const HEADER = 'Cf-Access-Jwt-Assertion';
const ISSUER = 'https://acme.cloudflareaccess.com';
const AUDIENCE = '4714c1358e65fe4b408ad6d432a5f878f08194bdb4752441fd56faefa9b2b6f2';

const folder = temporaryFolder('gateway');
const keys = await generateKeyPair('RS256', { extractable: true });
const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'first', alg: 'RS256', use: 'sig' };
const gateway = await forAllTests(
  createServer((_request, response) => void response.end(JSON.stringify({ keys: [jwk] }))),
);
await inSetUp(new Promise<void>((listening) => gateway.listen(0, '127.0.0.1', listening)));
// Own server: a gateway says who its callers are.
const stack = await forAllTests(
  TestStack.serverOnSharedWorker(
    acceptTokens(folder, {
      issuer: ISSUER,
      audience: AUDIENCE,
      header: HEADER,
      keys: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}/cdn-cgi/access/certs`,
      claims: { tenant: 'custom.org', subject: 'email' },
    }),
  ),
);
afterAllTests(async () => {
  await stack.stop();
  gateway.closeAllConnections();
});

const nowSeconds = () => Math.floor(Date.now() / 1_000);
const claims = (): JWTPayload => ({
  iss: ISSUER,
  aud: [AUDIENCE],
  sub: '7335d417-61da-459d-899c-0a01c76a2f94',
  email: 'alice@acme.example',
  custom: { org: 'acme' },
  exp: nowSeconds() + 300,
});
const signed = (changes: JWTPayload = {}, key = keys.privateKey, alg = 'RS256') =>
  new SignJWT({ ...claims(), ...changes }).setProtectedHeader({ alg, kid: 'first' }).sign(key);
const statuses = async (headers: Record<string, string>) => [
  (await new WireClient(`${stack.base}/mcp`).request('tools/list', {}, headers)).httpStatus,
  (await new JobsClient(stack.base).get('/v1/jobs', headers)).status,
];

test('the header says who calls, over MCP and the jobs API alike', async () => {
  const { jobs } = stack;
  const alice = { [HEADER]: await signed() };
  const id = await jobs.start('slow_compute', { seconds: 0 }, alice);
  const mcp = (headers: Record<string, string>) =>
    new WireClient(`${stack.base}/mcp`).request('tasks/get', { taskId: id }, headers);
  expect((await mcp(alice)).result).toMatchObject({ taskId: id });
  // Another connection of the same person, and a service that sends the name of the header in lower case.
  expect((await mcp({ [HEADER.toLowerCase()]: await signed({ sub: 'another' }) })).result).toBeDefined();
  for (const changes of [{ email: 'bob@acme.example' }, { custom: { org: 'other' } }]) {
    const other = { [HEADER]: await signed(changes) };
    expect((await mcp(other)).error).toMatchObject({ message: expect.stringContaining('not found') });
    expect((await jobs.get(`/v1/jobs/${id}`, other)).status).toBe(404);
  }
});

test('without the header nothing is served, and the answer names it', async () => {
  const without: Record<string, string>[] = [
    {},
    { authorization: `Bearer ${await signed()}` },
    { 'x-user': 'alice' },
  ];
  for (const headers of without) {
    expect(await statuses(headers)).toEqual([401, 401]);
    const { body } = await new JobsClient(stack.base).get('/v1/jobs', headers);
    expect(body).toMatchObject({
      type: '/problems/unauthenticated',
      detail: `Expected the header ${HEADER}, with a JWT of the gateway in front`,
    });
  }
});

test.each<[string, () => Promise<string> | string]>([
  ['a name alone', () => 'alice@acme.example'],
  ['nothing', () => ''],
  ['a JWT without a signature (alg none)', () => new UnsecuredJWT(claims()).encode()],
  [
    'a JWT signed with the public key as a shared secret',
    async () => signed({}, new TextEncoder().encode(await exportSPKI(keys.publicKey)) as never, 'HS256'),
  ],
  ['a JWT signed by somebody else', async () => signed({}, (await generateKeyPair('RS256')).privateKey)],
  ['a JWT for another application', () => signed({ aud: ['another'] })],
  ['a JWT of another issuer', () => signed({ iss: 'https://evil.cloudflareaccess.com' })],
  ['a JWT that has expired', () => signed({ exp: nowSeconds() - 60 })],
  ['a JWT without an expiry', () => signed({ exp: undefined as never })],
  ['a JWT without the subject', () => signed({ email: undefined })],
  ['a JWT without the tenant', () => signed({ custom: {} })],
  ['two JWTs', async () => `${await signed()}, ${await signed({ email: 'bob@acme.example' })}`],
])('%s in the header is refused with 401', async (_what, make) => {
  expect(await statuses({ [HEADER]: await make() })).toEqual([401, 401]);
});

test('a stream ends when its JWT expires', async () => {
  const headers = { [HEADER]: await signed({ exp: nowSeconds() + 2 }) };
  const { jobs } = stack;
  const id = await jobs.start('slow_compute', { seconds: 60 }, headers);
  const response = await fetch(`${stack.base}/v1/jobs/${id}/events`, { headers });
  const reader = response.body!.getReader();
  for (;;) if ((await reader.read()).done) break;
  const fresh = { [HEADER]: await signed() };
  expect((await jobs.get(`/v1/jobs/${id}`, fresh)).body.status).toBe('running');
  await jobs.request('POST', `/v1/jobs/${id}:cancel`, { headers: fresh });
});
