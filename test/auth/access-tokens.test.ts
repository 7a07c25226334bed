/** A server that wants access tokens of an authorization server, which behaves well, changes its keys, hangs, or lies. */
import type { ServerResponse } from 'node:http';
import { expect, test } from '@jest/globals';
import {
  exportJWK,
  exportSPKI,
  generateKeyPair,
  importJWK,
  SignJWT,
  UnsecuredJWT,
  type CryptoKey,
  type JWTPayload,
} from 'jose';
import { eventually } from '../stack/cli-process.js';
import { forAllTests, forThisTest, temporaryFolder } from '../support/for-all-tests.js';
import { JobsClient } from '../support/jobs.js';
import { WireClient } from '../support/mcp.js';
import { onSharedQueue, TestStack } from '../support/test-stack.js';
import { Issuer } from './issuer.js';
import { acceptTokens } from './token-sources.js';

const RESOURCE = 'https://longhaul.example.com/mcp';
const METADATA = 'https://longhaul.example.com/.well-known/oauth-protected-resource/mcp';

const settings = (url: string) =>
  acceptTokens(folder, { issuer: url, audience: RESOURCE, scope: 'longhaul', claims: { tenant: 'org' } });
const folder = temporaryFolder('access-tokens');
const issuer = await forAllTests(Issuer.start());
const key = await issuer.newKey('first');
// Own server: its callers have access tokens.
const stack = await forAllTests(TestStack.serverOnSharedWorker(settings(issuer.url)));

const nowSeconds = () => Math.floor(Date.now() / 1_000);
const claims = (): JWTPayload => ({
  iss: issuer.url,
  aud: RESOURCE,
  sub: 'alice',
  org: 'acme',
  scope: 'openid longhaul',
  exp: nowSeconds() + 300,
});
const signed = (changes: JWTPayload = {}, signingKey = key, kid = 'first') =>
  new SignJWT({ ...claims(), ...changes }).setProtectedHeader({ alg: 'RS256', kid }).sign(signingKey);
const wire = (token?: string) => new WireClient(`${stack.base}/mcp`, undefined, undefined, token);
const listTools = async (token?: string) => (await wire(token).request('tools/list')).httpStatus;

test('a valid token is a principal: the tenant and subject that its claims name', async () => {
  const token = await wire(await signed()).start('slow_compute', { seconds: 0 });
  await wire(await signed({ jti: 'another' })).until(token, 'completed');
  for (const changes of [{ sub: 'bob' }, { org: 'other' }, { sub: 'Alice' }, { sub: 'alice ' }]) {
    const { error } = await wire(await signed(changes)).request('tasks/get', { taskId: token });
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('not found') });
  }
  // Unicode forms of one name.
  const [composed, decomposed] = ['\u00e9', 'e\u0301'];
  const own = await wire(await signed({ sub: composed })).start('slow_compute', { seconds: 0 });
  expect(
    (await wire(await signed({ sub: decomposed })).request('tasks/get', { taskId: own })).error,
  ).toBeDefined();
  // Separators within the parts.
  const first = await wire(await signed({ org: 'a', sub: 'b/c' })).start('slow_compute', { seconds: 0 });
  expect(
    (await wire(await signed({ org: 'a/b', sub: 'c' })).request('tasks/get', { taskId: first })).error,
  ).toBeDefined();
});

test.each<[string, () => Promise<string> | string]>([
  ['without a signature (alg none)', () => new UnsecuredJWT(claims()).encode()],
  [
    'signed with the public key as a shared secret',
    async () => {
      const publicKey = (await importJWK(issuer.keys[0]!, 'RS256')) as CryptoKey;
      const secret = new TextEncoder().encode(await exportSPKI(publicKey));
      return new SignJWT(claims()).setProtectedHeader({ alg: 'HS256', kid: 'first' }).sign(secret);
    },
  ],
  ['for another audience', () => signed({ aud: 'https://other.example.com/mcp' })],
  ['for an audience that begins with the right one', () => signed({ aud: `${RESOURCE}2` })],
  ['without an audience', () => signed({ aud: undefined as unknown as string })],
  ['of another issuer', () => signed({ iss: 'https://evil.example.com' })],
  ['of an issuer with a slash more', () => signed({ iss: `${issuer.url}/` })],
  ['that has expired', () => signed({ exp: nowSeconds() - 60 })],
  ['that is not valid yet', () => signed({ nbf: nowSeconds() + 60 })],
  ['that never expires', () => signed({ exp: undefined as unknown as number })],
  ['without a subject', () => signed({ sub: undefined as unknown as string })],
  ['whose subject is no text', () => signed({ sub: 7 as unknown as string })],
  ['without a tenant', () => signed({ org: undefined })],
  ['signed with a key of somebody else', async () => signed({}, (await generateKeyPair('RS256')).privateKey)],
  [
    'signed with a key that is not published',
    async () => signed({}, (await generateKeyPair('RS256')).privateKey, 'unknown'),
  ],
  [
    'signed with a key in its own header',
    async () => {
      const { privateKey, publicKey } = await generateKeyPair('RS256');
      const jwk = await exportJWK(publicKey);
      const header = { alg: 'RS256', kid: '../../evil', jwk, jku: 'https://evil.example.com/jwks' };
      return new SignJWT(claims()).setProtectedHeader(header).sign(privateKey);
    },
  ],
  ['that was changed', async () => (await signed()).replace(/\.[^.]+\./, (part) => `${part.slice(0, -2)}x.`)],
  ['that is no JWT', () => 'lh_000000000000_' + 'A'.repeat(43)],
  ['of 8,000 characters', () => 'x'.repeat(8_000)],
])('a token %s is refused with 401', async (_what, make) => {
  const token = await make();
  const response = await wire(token).post(
    JSON.stringify(wire().envelope('tools/list')),
    wire(token).headers('tools/list'),
  );
  expect(response.status).toBe(401);
  expect(response.headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_token"/);
  expect(response.headers.get('www-authenticate')).toContain(`resource_metadata="${METADATA}"`);
  expect((await new JobsClient(stack.base, token).get('/v1/jobs')).status).toBe(401);
});

test('a token without the scope is refused with 403, which names the scope', async () => {
  const token = await signed({ scope: 'openid' });
  const response = await fetch(`${stack.base}/mcp`, {
    method: 'POST',
    headers: wire(token).headers('tools/list'),
    body: JSON.stringify(wire().envelope('tools/list')),
  });
  expect(response.status).toBe(403);
  const challenge = response.headers.get('www-authenticate');
  expect(challenge).toContain('error="insufficient_scope"');
  expect(challenge).toContain('scope="longhaul"');
  expect(challenge).toContain(`resource_metadata="${METADATA}"`);
  const { status, body } = await new JobsClient(stack.base, token).get('/v1/jobs');
  expect([status, body.type]).toEqual([403, '/problems/insufficient-scope']);
});

test('a token in the address or the body is not accepted', async () => {
  const token = await signed();
  expect((await fetch(`${stack.base}/v1/jobs?access_token=${token}`)).status).toBe(401);
  const { httpStatus } = await wire().request('tools/list', { access_token: token });
  expect(httpStatus).toBe(401);
});

test('the metadata of the resource and of its authorization server are public', async () => {
  const read = async (path: string) => (await fetch(stack.base + path)).json();
  expect(await read('/.well-known/oauth-protected-resource/mcp')).toMatchObject({
    resource: RESOURCE,
    authorization_servers: [issuer.url],
    scopes_supported: ['longhaul'],
  });
  expect(await read('/.well-known/oauth-authorization-server')).toMatchObject({ issuer: issuer.url });
});

test('a stream ends when its token expires', async () => {
  const token = await signed({ exp: nowSeconds() + 2 });
  const client = wire(token);
  const taskId = await client.start('slow_compute', { seconds: 60 });
  const { ended } = await client.listen({ taskIds: [taskId] });
  await ended;
  expect(await listTools(token)).toBe(401);
  const fresh = wire(await signed());
  expect((await fresh.get(taskId)).status).toBe('working');
  await fresh.request('tasks/cancel', { taskId });
});

test('keys that change are found; tokens of the old one are accepted while it is published', async () => {
  const [before, second] = [await signed(), await issuer.newKey('second')];
  const after = await signed({}, second, 'second');
  // Unknown keys are looked for every 30 s at most.
  await eventually('the new key is found', async () => (await listTools(after)) === 200);
  expect(await listTools(before)).toBe(200);
});

test('a server whose authorization server hangs, or is another one, says that it cannot check tokens', async () => {
  const other = await forThisTest(Issuer.start());
  const others = await other.newKey('only');
  // Own server: its authorization server lies, and hangs.
  const server = await forThisTest(TestStack.serverAlone(onSharedQueue(settings(other.url))));
  const request = async () => {
    const token = await signed({ iss: other.url }, others, 'only');
    return new JobsClient(server.base, token).get('/v1/jobs');
  };

  await server.listening();
  other.claims = 'https://evil.example.com';
  const lying = await request();
  expect([lying.status, lying.body.type, lying.body.retryable]).toEqual([503, '/problems/unavailable', true]);
  expect(lying.headers.get('retry-after')).toMatch(/^\d+$/);
  other.claims = undefined;
  const held: ServerResponse[] = [];
  other.answerKeys = (response) => void held.push(response);
  await eventually('the keys are asked for', async () => {
    expect((await request()).status).toBe(503);
    return held.length > 0;
  });
  for (const response of held) response.destroy();
  other.answerKeys = undefined;
  await eventually('it has recovered', async () => (await request()).status === 200);
});
