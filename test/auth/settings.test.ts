/** Settings of authentication that no server starts with. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { exportPKCS8, exportSPKI, generateKeyPair } from 'jose';
import { loadSettings, type SettingName } from '../../platform/settings/index.js';
import { assertServable } from '../../platform/settings/conflicts.js';

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-settings-'));
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  writeFileSync(join(folder, 'public.pem'), await exportSPKI(publicKey));
  writeFileSync(join(folder, 'private.pem'), await exportPKCS8(privateKey));
  writeFileSync(join(folder, 'damaged.pem'), 'public');
  writeFileSync(join(folder, 'empty'), '\n');
});
afterAll(() => rmSync(folder, { recursive: true }));

const check = async (flags: Partial<Record<SettingName, unknown>>) =>
  assertServable(await loadSettings(flags, {}, folder));
const GATEWAY = {
  authentication: 'gateway',
  gatewayHeader: 'X-Pomerium-Jwt-Assertion',
  gatewayIssuer: 'longhaul.example.com',
  gatewayAudience: 'longhaul.example.com',
};
const JWKS = { gatewayKeys: 'https://longhaul.example.com/.well-known/pomerium/jwks.json' };

test('a gateway with an address of its keys, or a file, is a kind of authentication', async () => {
  await check({ ...GATEWAY, ...JWKS, host: '0.0.0.0' });
  await check({ ...GATEWAY, gatewayKeys: 'public.pem' });
});

test.each<[string, Partial<Record<SettingName, unknown>>, string]>([
  ['no header', { ...GATEWAY, ...JWKS, gatewayHeader: undefined }, 'expected --gateway-header too'],
  ['no issuer', { ...GATEWAY, ...JWKS, gatewayIssuer: undefined }, 'expected --gateway-issuer too'],
  ['no audience', { ...GATEWAY, ...JWKS, gatewayAudience: undefined }, 'expected --gateway-audience too'],
  ['no keys', GATEWAY, 'expected --gateway-keys too'],
  [
    'a missing file',
    { ...GATEWAY, gatewayKeys: 'missing.pem' },
    'missing.pem: expected a file with a public key; ENOENT',
  ],
  [
    'a private key',
    { ...GATEWAY, gatewayKeys: 'private.pem' },
    'private.pem: expected a public key in PEM format; got a private key',
  ],
  [
    'a file without a key',
    { ...GATEWAY, gatewayKeys: 'damaged.pem' },
    'damaged.pem: expected a public key or a certificate in PEM format; got something else',
  ],
  [
    'an address that is no URL',
    { ...GATEWAY, gatewayKeys: 'htps://longhaul.example.com/keys' },
    'Or name the http or https URL of its keys',
  ],
  [
    "the callers' own header",
    { ...GATEWAY, gatewayHeader: 'authorization' },
    '--gateway-header: expected the name of a header other than Authorization; got "authorization"',
  ],
  ['an unknown method', { authentication: 'password' }, '--authentication: '],
])('%s', async (_what, flags, message) => {
  await expect(check(flags)).rejects.toThrow(message);
});

const OAUTH = {
  authentication: 'oauth',
  oauthIssuer: 'https://login.example.com',
  oauthResource: 'https://longhaul.example.com/mcp',
};

test('the secret for introspection comes from a file, or from the environment', async () => {
  await check({ ...OAUTH, oauthClientId: 'longhaul', oauthClientSecretFile: 'damaged.pem' });
  process.env['LONGHAUL_OAUTH_CLIENT_SECRET'] = 'secret';
  try {
    await check({ ...OAUTH, oauthClientId: 'longhaul' });
    await expect(
      check({ ...OAUTH, oauthClientId: 'longhaul', oauthClientSecretFile: 'damaged.pem' }),
    ).rejects.toThrow('got both');
  } finally {
    delete process.env['LONGHAUL_OAUTH_CLIENT_SECRET'];
  }
});

test.each<[string, Partial<Record<SettingName, unknown>>, string]>([
  [
    'an ID without its secret',
    { oauthClientId: 'longhaul' },
    '--oauth-client-id: expected its secret either in the variable LONGHAUL_OAUTH_CLIENT_SECRET or in ' +
      '--oauth-client-secret-file; got neither',
  ],
  [
    'a file that is missing',
    { oauthClientId: 'longhaul', oauthClientSecretFile: 'missing' },
    'missing: expected a file with a secret; ENOENT',
  ],
  [
    'a file that is empty',
    { oauthClientId: 'longhaul', oauthClientSecretFile: 'empty' },
    'empty: expected a secret; got an empty file',
  ],
  [
    'introspection without an ID',
    { oauthIntrospection: 'true' },
    '--oauth-introspection: expected --oauth-client-id too',
  ],
  [
    'an endpoint without an ID',
    { oauthIntrospectionEndpoint: 'https://login.example.com/introspect' },
    '--oauth-introspection-endpoint: expected --oauth-client-id too',
  ],
])('introspection: %s', async (_what, flags, message) => {
  await expect(check({ ...OAUTH, ...flags })).rejects.toThrow(message);
});
