/** Origins are matched with scheme and port, on every path; and the headers that keep browsers safe. */
import { request } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { forAllTests, inSetUp } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';

const APP = 'https://app.example.com';
const PUBLIC = 'https://longhaul.example.com';

// Own servers: with allowed origins, and with a trusted proxy.
const plain = await forAllTests(TestStack.serverAlone({ LONGHAUL_CORS_ORIGINS: APP }));
const proxied = await forAllTests(
  TestStack.serverAlone({
    LONGHAUL_ALLOWED_HOSTS: 'longhaul.example.com',
    LONGHAUL_TRUSTED_PROXIES: '127.0.0.1,::1',
  }),
);
await inSetUp(Promise.all([plain.listening(), proxied.listening()]));

interface Answer {
  status: number | undefined;
  headers: NodeJS.Dict<string | string[]>;
  text: string;
}

/** With headers that fetch doesn't let pass. */
function ask(
  of: TestStack,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request(of.base + path, { method, headers, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }));
    })
      .on('error', reject)
      .end();
  });
}

const PATHS = [
  '/healthz',
  '/mcp',
  '/docs',
  '/openapi.json',
  '/problems',
  '/v1/tools',
  '/.well-known/nothing',
];

test('its own origin passes under each of its names', async () => {
  for (const name of ['127.0.0.1', 'localhost', '[::1]'])
    for (const path of PATHS) {
      const origin = `http://${name}:${plain.port}`;
      expect([origin, path, (await ask(plain, path, { origin })).status]).not.toEqual([origin, path, 403]);
    }
  // A port that is mapped to the server's, as in a container.
  const mapped = { host: 'localhost:8080', origin: 'http://localhost:8080' };
  expect((await ask(plain, '/v1/tools', mapped)).status).toBe(200);
});

test('other origins are refused on every path', async () => {
  const origins: [what: string, origin: string][] = [
    ['another port of this machine', `http://localhost:${plain.port + 1}`],
    ['no port', 'http://localhost'],
    ['another scheme', `https://127.0.0.1:${plain.port}`],
    ['another host', `http://evil.example:${plain.port}`],
    ['a name that begins like its own', `http://localhost.evil.example:${plain.port}`],
    ['a user before the host', `http://127.0.0.1:${plain.port}@evil.example`],
    ['a sandboxed page', 'null'],
    ['a file', 'file://'],
    ['an extension', 'chrome-extension://abcdefghijklmnop'],
    ['text', 'localhost'],
  ];
  for (const [what, origin] of origins)
    for (const path of PATHS)
      expect([what, path, (await ask(plain, path, { origin })).status]).toEqual([what, path, 403]);
});

test('a Host that is no address is refused on every path', async () => {
  const host = `127.0.0.1127.0.0.1:${plain.port}`;
  for (const path of [...PATHS, '/v1/jobs/0/artifacts/a.txt'])
    expect([path, (await ask(plain, path, { host })).status]).toEqual([path, 403]);
});

test('an allowed origin may call jobs, and may read the challenge', async () => {
  const { status, headers } = await ask(plain, '/v1/tools', { origin: APP });
  expect([status, headers['access-control-allow-origin']]).toEqual([200, APP]);
  expect(headers['access-control-expose-headers']).toContain('WWW-Authenticate');
  for (const path of ['/mcp', '/healthz']) expect((await ask(plain, path, { origin: APP })).status).toBe(403);
});

describe('behind a proxy', () => {
  const forwarded = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https' };

  test('the public origin passes, if the proxy is trusted', async () => {
    const headers = { ...forwarded, host: 'longhaul.example.com', origin: PUBLIC };
    expect((await ask(proxied, '/v1/tools', headers)).status).toBe(200);
    const inner = { ...forwarded, 'x-forwarded-host': 'longhaul.example.com', origin: PUBLIC };
    expect((await ask(proxied, '/v1/tools', inner)).status).toBe(200);
    expect((await ask(plain, '/v1/tools', inner)).status).toBe(403);
    const other = { ...headers, origin: 'http://longhaul.example.com' };
    expect((await ask(proxied, '/v1/tools', other)).status).toBe(403);
  });

  test('a host that the proxy names has to be allowed', async () => {
    const evil = { ...forwarded, 'x-forwarded-host': 'evil.example' };
    expect((await ask(proxied, '/v1/tools', evil)).status).toBe(403);
    expect((await ask(proxied, '/v1/tools', { ...evil, origin: 'https://evil.example' })).status).toBe(403);
  });
});

test('every response has the headers that keep browsers safe', async () => {
  for (const [path, status] of [
    ['/healthz', 200],
    ['/readyz', undefined],
    ['/mcp', 405],
    ['/docs', 200],
    ['/docs/swagger-ui.css', 200],
    ['/v1/tools', 200],
    ['/v1/nothing', 404],
    ['/nothing', 404],
  ] as [string, number | undefined][]) {
    const { status: got, headers } = await ask(plain, path);
    if (status !== undefined) expect([path, got]).toEqual([path, status]);
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
    });
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(headers['strict-transport-security']).toBeUndefined();
    if (!path.startsWith('/docs')) expect(headers['cache-control']).toMatch(/^no-(store|cache)$/);
  }
  expect((await ask(plain, '/docs')).headers['content-security-policy']).toContain("script-src 'self'");
});
