/** A server that asks its authorization server about opaque access tokens. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { SignJWT } from 'jose';
import { eventually, freePort } from '../stack/cli-process.js';
import { forAllTests, forThisTest, temporaryFolder } from '../support/for-all-tests.js';
import { forged } from '../support/forged.js';
import { JobsClient } from '../support/jobs.js';
import { WireClient } from '../support/mcp.js';
import { TestStack } from '../support/test-stack.js';
import { RESOURCE_SERVER_SECRET, startAuthorizationServer } from './authorization-server.js';
import { Issuer } from './issuer.js';
import { acceptTokens } from './token-sources.js';

const RESOURCE = 'https://longhaul.example.com/mcp';
const SECRET = 'hush: 50% & more';

const folder = temporaryFolder('introspection');
writeFileSync(join(folder, 'secret'), `${SECRET}\n`);
const issuer = await forAllTests(Issuer.start());
const key = await issuer.newKey('first');
issuer.metadata = { introspection_endpoint: `${issuer.url}/introspect` };
// Own server: its callers have opaque access tokens.
const stack = await forAllTests(
  TestStack.serverOnSharedWorker(
    acceptTokens(folder, {
      issuer: issuer.url,
      audience: RESOURCE,
      scope: 'longhaul',
      introspection: { 'client-id': 'longhaul server', 'secret-file': 'secret' },
    }),
  ),
);
afterEach(() => {
  issuer.introspect = () => ({ active: false });
  issuer.questions.length = 0;
});

const nowSeconds = () => Math.floor(Date.now() / 1_000);
const active = (changes: object = {}) => ({
  active: true,
  aud: RESOURCE,
  sub: 'alice',
  scope: 'openid longhaul',
  ...changes,
});
let tokens = 0;
/** A token that the server hasn't seen yet. */
const newToken = () => `opaque_${(tokens += 1)}`;
const wire = (token: string, { base } = stack) => new WireClient(`${base}/mcp`, undefined, undefined, token);
const listTools = async (token: string) => (await wire(token).request('tools/list')).httpStatus;

test('the answer says whose token it is; it is asked for once in a few seconds, with ID and secret', async () => {
  issuer.introspect = () => active();
  const token = newToken();
  const taskId = await wire(token).start('slow_compute', { seconds: 0 });
  for (let reads = 0; reads < 5; reads += 1) await wire(token).get(taskId);
  expect(await wire(newToken()).get(taskId)).toMatchObject({ taskId });
  expect(issuer.questions.length).toBeLessThan(5);
  const { authorization, body } = issuer.questions[0]!;
  expect([body.get('token'), body.get('token_type_hint')]).toEqual([token, 'access_token']);
  const credentials = Buffer.from(authorization!.replace('Basic ', ''), 'base64').toString();
  expect(credentials).toBe('longhaul+server:hush%3A+50%25+%26+more');
  issuer.introspect = () => active({ sub: 'bob' });
  expect((await wire(newToken()).request('tasks/get', { taskId })).error).toBeDefined();
});

test.each<[string, object]>([
  ['is not active', { active: false, aud: RESOURCE, sub: 'alice', scope: 'longhaul' }],
  ['is for another audience', active({ aud: ['https://other.example.com/mcp'] })],
  ['names no audience', active({ aud: undefined })],
  ['is of another issuer', active({ iss: 'https://evil.example.com' })],
  ['has expired', active({ exp: Math.floor(Date.now() / 1_000) - 60 })],
  ['is not valid yet', active({ nbf: Math.floor(Date.now() / 1_000) + 600 })],
  ['is bound to a key', active({ token_type: 'DPoP' })],
  ['has no subject', active({ sub: undefined })],
])('a token that %s is refused with 401', async (_what, answer) => {
  issuer.introspect = () => answer;
  const token = newToken();
  expect(await listTools(token)).toBe(401);
  expect((await new JobsClient(stack.base, token).get('/v1/jobs')).status).toBe(401);
});

test('issuer, audience, times and type that are right are accepted; without the scope the answer is 403', async () => {
  issuer.introspect = () =>
    active({
      iss: issuer.url,
      aud: ['https://other.example.com', `${RESOURCE}/`],
      exp: nowSeconds() + 60,
      nbf: nowSeconds() - 60,
      token_type: 'bearer',
    });
  expect(await listTools(newToken())).toBe(200);
  issuer.introspect = () => active({ scope: 'openid' });
  expect(await listTools(newToken())).toBe(403);
});

test('a JWT is verified without a question', async () => {
  const token = await new SignJWT({ sub: 'alice', scope: 'longhaul' })
    .setProtectedHeader({ alg: 'RS256', kid: 'first' })
    .setIssuer(issuer.url)
    .setAudience(RESOURCE)
    .setExpirationTime('1m')
    .sign(key);
  expect(await listTools(token)).toBe(200);
  expect(await listTools(forged(token))).toBe(401);
  expect(issuer.questions).toEqual([]);
});

test('a revoked token ends its streams and waits', async () => {
  issuer.introspect = () => active();
  const token = newToken();
  const client = wire(token);
  const taskId = await client.start('slow_compute', { seconds: 60 });
  const streams = await Promise.all([1, 2, 3].map(() => client.listen({ taskIds: [taskId] })));
  const wait = new JobsClient(stack.base, token).get(`/v1/jobs/${taskId}?wait=50`);
  await eventually('it is asked for again', () => issuer.questions.length >= 3);
  issuer.introspect = () => ({ active: false });
  await Promise.all(streams.map(({ ended }) => ended));
  expect((await wait).status).toBe(401);
  issuer.introspect = () => active();
  await wire(newToken()).request('tasks/cancel', { taskId });
});

test('while the authorization server fails, calls are answered 503, and open streams continue', async () => {
  issuer.introspect = () => active();
  const token = newToken();
  const client = wire(token);
  const taskId = await client.start('slow_compute', { seconds: 60 });
  const stream = await client.listen({ taskIds: [taskId] });
  let hasEnded = false;
  void stream.ended.then(() => (hasEnded = true));
  for (const failure of [500, 401, { nothing: 'of the kind' }]) {
    issuer.introspect = () => failure;
    const { status, headers, body } = await new JobsClient(stack.base, newToken()).get('/v1/jobs');
    expect([status, body.type]).toEqual([503, '/problems/unavailable']);
    expect(body.detail).toBe(
      `tokens of ${issuer.url} can't be checked: ${issuer.url}/introspect does not answer`,
    );
    expect(headers.get('retry-after')).toMatch(/^\d+$/);
  }
  const asked = issuer.questions.filter(({ body }) => body.get('token') === token).length;
  await eventually(
    'the open stream has asked too',
    () => issuer.questions.filter(({ body }) => body.get('token') === token).length > asked,
  );
  await eventually('the answer is too old', async () => (await listTools(token)) === 503);
  expect(hasEnded).toBe(false);
  issuer.introspect = () => active();
  await eventually('it has recovered', async () => (await listTools(token)) === 200);
  stream.close();
  await client.request('tasks/cancel', { taskId });
  const output = stack.parts.map((part) => part.output()).join('\n');
  expect(output).toContain(`tokens of ${issuer.url} can't be checked`);
  for (const secret of [SECRET, 'hush', token]) expect(output).not.toContain(secret);
});

test('tokens of oidc-provider: opaque, from client credentials, until they are revoked', async () => {
  const port = await freePort();
  const resource = `http://127.0.0.1:${port}/mcp`;
  const server = await forThisTest(
    startAuthorizationServer(await freePort(), resource, { format: 'opaque' }),
  );
  const ask = async (path: string, body: Record<string, string>) =>
    fetch(`${server.issuer}/token${path}`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa('nightly:nightly-secret-of-the-test')}` },
      body: new URLSearchParams(body),
    });
  // Own server: it asks another authorization server.
  const settings = acceptTokens(folder, {
    issuer: server.issuer,
    audience: resource,
    claims: { subject: 'client_id' },
    introspection: { 'client-id': 'longhaul', 'secret-variable': 'INTROSPECTION_SECRET', jwts: true },
  });
  const own = await forThisTest(
    TestStack.serverOnSharedWorker({ ...settings, INTROSPECTION_SECRET: RESOURCE_SERVER_SECRET }, port),
  );

  const granted = await ask('', { grant_type: 'client_credentials', scope: 'longhaul', resource });
  const { access_token: token } = (await granted.json()) as any;
  expect(token).not.toContain('.');
  const client = wire(token, own);
  const taskId = await client.start('confirm_delete', { filename: 'a.txt' });
  const { ended } = await client.listen({ taskIds: [taskId] });
  expect((await ask('/revocation', { token })).status).toBe(200);
  await ended;
  await eventually('it is refused', async () => (await client.request('tools/list')).httpStatus === 401);
});
