/** A server with TLS of its own: client certificates as credentials, new files without a restart, bad files. */
import { copyFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, request, type RequestOptions } from 'node:https';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { expect, test } from '@jest/globals';
import { MAX_FAILURES } from '../../mcp-server/limits/failed-authentications.js';
import { addApiKey } from '../../mcp-server/auth/key-store.js';
import { eventually, TestHome } from '../stack/cli-process.js';
import { CertificateAuthority } from '../support/certificates.js';
import {
  afterAllTests,
  afterThisTest,
  forThisTest,
  inSetUp,
  temporaryFolder,
} from '../support/for-all-tests.js';
import { onSharedQueue, TestStack } from '../support/test-stack.js';

const stacks: TestStack[] = [];

const newFolder = (name: string) => mkdtempSync(join(folder, name));
const read = (file: string) => readFileSync(file, 'utf8');
const certificateOf = (name: string, from = authority) => ({
  cert: read(from.path(`${name}.pem`)),
  key: read(from.path(`${name}.key`)),
});

/** A server with TLS. */
async function serve(environment: Record<string, string> = {}): Promise<TestStack> {
  const settings = onSharedQueue({
    LONGHAUL_TLS_CERT: authority.path('server.pem'),
    LONGHAUL_TLS_KEY: authority.path('server.key'),
    LONGHAUL_TLS_CLIENT_CA: authority.path('ca.pem'),
    LONGHAUL_AUTHENTICATION: 'mtls,keys',
    LONGHAUL_KEYS_FOLDER: join(folder, 'keys'),
    ...environment,
  });
  // Own server: with TLS.
  const started = await TestStack.serverAlone(settings);
  stacks.push(started);
  await eventually(
    () => `the server is ready; ${started.parts.map((part) => part.output().slice(-1_000)).join('\n')}`,
    () =>
      ask('/readyz', {}, undefined, started).then(
        ({ status }) => status === 200,
        () => false,
      ),
  );
  return started;
}

interface HttpsAnswer {
  status: number | undefined;
  headers: NodeJS.Dict<string | string[]>;
  body: any;
  /** The server's certificate. */
  fingerprint: string;
}

/** A request on a connection of its own, unless it is given an agent. */
function askOverHttps(url: string, options: RequestOptions = {}, body?: object): Promise<HttpsAnswer> {
  return new Promise((resolve, reject) => {
    const headers = { ...(body ? { 'content-type': 'application/json' } : {}), ...options.headers };
    const asked = request(url, { agent: false, method: body ? 'POST' : 'GET', ...options, headers });
    asked.once('error', reject).once('response', (response) => {
      const { fingerprint256 } = (response.socket as TLSSocket).getPeerCertificate();
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString())).once('error', reject);
      response.once('end', () => {
        const isJson = /[/+]json/.test(response.headers['content-type'] ?? '');
        resolve({
          status: response.statusCode,
          headers: response.headers,
          body: isJson && text ? JSON.parse(text) : text,
          fingerprint: fingerprint256,
        });
      });
    });
    asked.end(body && JSON.stringify(body));
  });
}

function ask(path: string, options: Parameters<typeof askOverHttps>[1] = {}, body?: object, of = stack) {
  const ca = read(authority.path('ca.pem'));
  return askOverHttps(`https://127.0.0.1:${of.port}${path}`, { ca, ...options }, body);
}

const folder = temporaryFolder('tls');
const authority = new CertificateAuthority(newFolder('ca-'));
const stranger = new CertificateAuthority(newFolder('stranger-'));
authority.issue('server');
authority.issue('alice', '/O=acme/CN=alice');
authority.issue('bob', '/O=acme/CN=bob');
authority.issue('nightly', '/CN=nightly');
authority.issue('spiffe', '/O=acme', 'URI:spiffe://acme/alice');
authority.issue('nobody', '/O=acme', 'DNS:localhost');
stranger.issue('alice', '/O=acme/CN=alice');
const [key] = addApiKey(join(folder, 'keys'), { tenant: 'acme', subject: 'alice' });
const stack = await inSetUp(serve());
afterAllTests(() => Promise.all(stacks.map((one) => one.stop())));

test('a client certificate says who calls, beside API keys', async () => {
  const alice = certificateOf('alice');
  const started = await ask('/v1/tools/slow_compute/jobs', alice, { seconds: 0 });
  expect(started.status).toBeLessThan(300);
  const path = `/v1/jobs/${started.body.job_id}`;
  const withKey = { headers: { authorization: `Bearer ${key}` } };
  expect((await ask(path, alice)).status).toBe(200);
  expect((await ask(path, withKey)).status).toBe(200);
  for (const other of ['bob', 'nightly', 'spiffe'])
    expect([other, (await ask(path, certificateOf(other))).status]).toEqual([other, 404]);
  // The header has priority over the certificate.
  expect((await ask(path, { ...certificateOf('bob'), ...withKey })).status).toBe(200);
  expect((await ask(path, { ...alice, headers: { authorization: 'Bearer lh_no' } })).status).toBe(401);

  for (const [name, principal] of [
    ['alice', 'acme/alice'],
    ['nightly', 'default/nightly'],
    ['spiffe', 'acme/spiffe%3A%2F%2Facme%2Falice'],
  ] as const) {
    const { body } = await ask('/v1/tools/slow_compute/jobs', certificateOf(name), { seconds: 0 });
    await eventually(`the job of ${name} is listed under its principal`, async () => {
      const runs = (await stack.temporal()).workflow.list({ query: `LonghaulPrincipal = '${principal}'` });
      for await (const { workflowId } of runs) if (workflowId.endsWith(`.${body.job_id}`)) return true;
      return false;
    });
  }
});

test('without a certificate that counts, the challenge asks for a key', async () => {
  const none = await ask('/v1/jobs');
  expect([none.status, none.headers['www-authenticate']]).toEqual([401, 'Bearer realm="longhaul"']);
  expect(none.body.detail).toContain('or a client certificate, but got none');
  const foreign = await ask('/v1/jobs', certificateOf('alice', stranger));
  expect([foreign.status, foreign.headers['www-authenticate']]).toEqual([401, 'Bearer realm="longhaul"']);
  expect(foreign.body.detail).toContain("isn't verified");
  const basic = await ask('/v1/jobs', {
    ...certificateOf('alice'),
    headers: { authorization: 'Basic YTpi' },
  });
  expect(basic.body.detail).toBe('Expected the header Authorization: Bearer, with an API key');
  const bad = await ask('/mcp', { headers: { authorization: 'Bearer lh_no' } }, {});
  expect([bad.status, bad.headers['www-authenticate']]).toEqual([
    401,
    expect.stringContaining('error="invalid_token"'),
  ]);
  const nameless = await ask('/v1/jobs', certificateOf('nobody'));
  expect([nameless.status, nameless.body.type]).toEqual([403, '/problems/certificate-required']);
});

test('a certificate that expires counts no more, on open connections and in resumed sessions', async () => {
  const until = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 8_000);
  authority.issue('brief', '/O=acme/CN=alice', undefined, until);
  const kept = new Agent({ keepAlive: true, maxSockets: 1 });
  const resuming = new Agent({ keepAlive: false });
  afterThisTest(() => resuming.destroy());
  afterThisTest(() => kept.destroy());

  const askAgain = (agent: Agent) => ask('/v1/jobs', { ...certificateOf('brief'), agent });
  for (const agent of [kept, resuming]) expect((await askAgain(agent)).status).toBe(200);
  await eventually('it has expired', () => Date.now() > until.getTime());
  for (const agent of [kept, resuming]) {
    const { status, body } = await askAgain(agent);
    expect(status).toBe(401);
    expect(body.detail).toContain(`got one that expired at ${until.toISOString()}`);
  }
});

test('plain HTTP is not served', async () => {
  await expect(fetch(`http://127.0.0.1:${stack.port}/healthz`)).rejects.toThrow();
  expect((await ask('/healthz')).headers['strict-transport-security']).toBe('max-age=31536000');
  expect(stack.parts.some((part) => part.output().includes(`https://127.0.0.1:${stack.port}/mcp`))).toBe(
    true,
  );
});

test('with certificates alone, requests without one are answered 403', async () => {
  const alone = await serve({ LONGHAUL_AUTHENTICATION: 'mtls' });
  const jobs = await ask('/v1/jobs', { headers: { authorization: `Bearer ${key}` } }, undefined, alone);
  expect([jobs.status, jobs.body.type]).toEqual([403, '/problems/certificate-required']);
  expect(jobs.headers['www-authenticate']).toBeUndefined();
  expect((await ask('/mcp', {}, {}, alone)).status).toBe(403);
  // The handshake has judged a certificate, so it isn't counted as a guess.
  for (let request = 0; request <= MAX_FAILURES; request += 1)
    expect((await ask('/v1/jobs', certificateOf('alice', stranger), undefined, alone)).status).toBe(403);
  expect((await ask('/v1/jobs', certificateOf('alice'), undefined, alone)).status).toBe(200);
  expect((await ask('/healthz', {}, undefined, alone)).status).toBe(200);
});

test('changed files are used without a restart; a pair that does not fit is not', async () => {
  const own = newFolder('own-');
  const path = (file: string) => join(own, file);
  const put = (from: string, to: string) => copyFileSync(authority.path(from), path(to));
  put('server.pem', 'cert.pem');
  put('server.key', 'cert.key');
  put('ca.pem', 'clients.pem');
  const changing = await serve({
    LONGHAUL_TLS_CERT: path('cert.pem'),
    LONGHAUL_TLS_KEY: path('cert.key'),
    LONGHAUL_TLS_CLIENT_CA: path('clients.pem'),
  });
  const output = () => changing.parts.map((part) => part.output()).join('');
  const fingerprint = async () => (await ask('/healthz', {}, undefined, changing)).fingerprint;
  const before = await fingerprint();
  authority.issue('next');
  put('next.pem', 'cert.pem');
  await eventually('the pair is refused', () => output().includes('those before them stay in use'));
  expect(output()).toContain('expected the key of');
  expect(await fingerprint()).toBe(before);
  writeFileSync(path('cert.key'), read(authority.path('next.key')).slice(0, 200));
  await eventually('the half-written key is refused', () => output().split('stay in use').length > 2);
  expect(await fingerprint()).toBe(before);
  put('next.key', 'cert.key');
  await eventually('the new pair is used', async () => (await fingerprint()) !== before);

  // Other authorities: an open connection loses its certificate too.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const onOne = () => ask('/v1/jobs', { agent, ...certificateOf('alice') }, undefined, changing);
  expect((await onOne()).status).toBe(200);
  copyFileSync(stranger.path('ca.pem'), path('clients.pem'));
  await eventually('the authority is gone', async () => (await onOne()).status === 401);
  agent.destroy();
  const strange = () => ask('/v1/jobs', certificateOf('alice', stranger), undefined, changing);
  expect((await strange()).status).toBe(200);
});

test('up says its address, and the command line calls it with the authority in NODE_EXTRA_CA_CERTS', async () => {
  const home = await forThisTest(TestHome.create());

  const tls = {
    LONGHAUL_TLS_CERT: authority.path('server.pem'),
    LONGHAUL_TLS_KEY: authority.path('server.key'),
  };
  const up = await home.up(tls);
  expect(up.stdout()).toContain('Longhaul is ready: https://127.0.0.1:');
  const list = home.run(['list'], { NODE_EXTRA_CA_CERTS: authority.path('ca.pem') });
  expect([await list.ended, list.stderr()]).toEqual([0, '']);
  const stdio = home.run(['stdio'], tls);
  stdio.process.stdin!.end();
  expect(await stdio.ended).toBe(0);
  const unknown = home.run(['list']);
  expect(await unknown.ended).not.toBe(0);
  expect(unknown.stderr()).toContain('NODE_EXTRA_CA_CERTS');
});

test('files and settings that do not fit are refused at the start', async () => {
  const home = await forThisTest(TestHome.create());

  const [cert, keyFile, ca] = [
    authority.path('server.pem'),
    authority.path('server.key'),
    authority.path('ca.pem'),
  ];
  const missing = join(folder, 'missing.pem');
  for (const [command, flags, message] of [
    ['server', ['--tls-cert', cert], '--tls-cert: expected --tls-key too'],
    ['server', ['--tls-key', keyFile], '--tls-key: expected --tls-cert too'],
    ['up', ['--tls-cert', cert, '--tls-key', authority.path('alice.key')], `expected the key of ${cert}`],
    [
      'up',
      ['--tls-cert', missing, '--tls-key', keyFile],
      `--tls-cert ${missing}: expected a readable PEM file; got ENOENT`,
    ],
    [
      'server',
      ['--tls-cert', cert, '--tls-key', folder],
      `--tls-key ${folder}: expected a readable PEM file; got EISDIR`,
    ],
    ['server', ['--tls-cert', keyFile, '--tls-key', keyFile], 'expected PEM with certificates alone'],
    ['server', ['--tls-client-ca', ca], '--tls-client-ca: expected --tls-cert too'],
    ['server', ['--authentication', 'mtls'], '--authentication mtls: expected --tls-client-ca too'],
    [
      'server',
      ['--tls-cert', cert, '--tls-key', keyFile, '--tls-client-ca', ca],
      '--tls-client-ca: expected mtls in --authentication',
    ],
  ] as [string, string[], string][]) {
    const run = home.run([command, ...flags]);
    expect([flags, await run.ended]).not.toEqual([flags, 0]);
    expect(run.stderr()).toContain(message);
  }
});
