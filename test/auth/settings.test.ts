/** Settings of authentication, and token sources, that no server starts with. */
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { exportPKCS8, exportSPKI, generateKeyPair } from 'jose';
import { loadSettings, type SettingName } from '../../platform/settings/index.js';
import { assertServable } from '../../platform/settings/conflicts.js';
import { readTokenSources } from '../../platform/settings/token-sources.js';
import { temporaryFolder } from '../support/for-all-tests.js';
import { writeFiles } from '../support/write-files.js';
import { acceptTokens } from './token-sources.js';

const folder = temporaryFolder('settings');
const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
writeFiles(folder, {
  'public.pem': await exportSPKI(publicKey),
  'private.pem': await exportPKCS8(privateKey),
  'damaged.pem': 'public',
  secret: 'hush\n',
  empty: '\n',
});
afterEach(() => {
  delete process.env['INTROSPECTION_SECRET'];
});

const check = async (flags: Partial<Record<SettingName, unknown>>, environment = {}) =>
  assertServable(await loadSettings(flags, environment, folder));
const checkSources = (...sources: object[]) => check({}, acceptTokens(folder, ...sources));

const OAUTH = { issuer: 'https://login.example.com', audience: 'https://longhaul.example.com/mcp' };
const GATEWAY = {
  issuer: 'longhaul.example.com',
  audience: 'longhaul.example.com',
  header: 'X-Pomerium-Jwt-Assertion',
  keys: 'https://longhaul.example.com/.well-known/pomerium/jwks.json',
};
const INTROSPECTION = { 'client-id': 'longhaul', 'secret-file': 'secret' };

test('sources have the address of their keys, a file, or metadata, and claims with defaults', async () => {
  const sources = [OAUTH, GATEWAY, { ...GATEWAY, header: 'X-Other', keys: 'public.pem' }];
  await check({ host: '0.0.0.0' }, acceptTokens(folder, ...sources));
  const read = readTokenSources(acceptTokens(folder, ...sources).LONGHAUL_TOKEN_SOURCES);
  expect(read).toMatchObject([
    { ...OAUTH, header: 'Authorization', claims: { subject: 'sub', groups: 'groups' } },
    GATEWAY,
    { keys: join(folder, 'public.pem') },
  ]);
});

test('the secret for introspection comes from a file, or from the environment', async () => {
  await checkSources({ ...OAUTH, introspection: INTROSPECTION });
  process.env['INTROSPECTION_SECRET'] = 'hush';
  const introspection = { 'client-id': 'longhaul', 'secret-variable': 'INTROSPECTION_SECRET' };
  await checkSources({ ...OAUTH, introspection });
});

test.each<[string, object, string]>([
  ['no issuer', { ...GATEWAY, issuer: undefined }, '[0].issuer: expected the issuer, as in the claim iss'],
  ['no audience', { ...GATEWAY, audience: undefined }, '[0].audience: expected the audience of this server'],
  ['no keys, and no metadata', { ...GATEWAY, keys: undefined }, '[0].issuer: expected an http or https URL'],
  [
    'a missing file',
    { ...GATEWAY, keys: 'missing.pem' },
    'missing.pem: expected a file with a public key in PEM format, or the http or https URL of keys; ENOENT',
  ],
  [
    'a private key',
    { ...GATEWAY, keys: 'private.pem' },
    'private.pem: expected a public key in PEM format; got a private key',
  ],
  [
    'a file without a key',
    { ...GATEWAY, keys: 'damaged.pem' },
    'damaged.pem: expected a public key or a certificate in PEM format; got something else',
  ],
  [
    'an address that is no URL',
    { ...GATEWAY, keys: 'htps://longhaul.example.com/keys' },
    'or the http or https URL of keys',
  ],
  ['a header with a blank', { ...GATEWAY, header: 'X Jwt' }, '[0].header: expected the name of a header'],
  [
    "the callers' own header for an audience that is no URL",
    { ...GATEWAY, header: 'authorization' },
    '[0].audience: expected an http or https URL, the public one',
  ],
  ['two scopes', { ...OAUTH, scope: 'a b' }, '[0].scope: expected one OAuth scope'],
  ['a misspelled key', { ...OAUTH, isuer: '' }, '[0].isuer: unknown key; did you mean "issuer"?'],
  [
    'introspection without an ID',
    { ...OAUTH, introspection: { 'secret-file': 'secret' } },
    "[0].introspection.client-id: expected this server's client ID",
  ],
  [
    'an ID without its secret',
    { ...OAUTH, introspection: { 'client-id': 'longhaul' } },
    '[0].introspection: expected either secret-file or secret-variable',
  ],
  [
    'two places of a secret',
    { ...OAUTH, introspection: { ...INTROSPECTION, 'secret-variable': 'INTROSPECTION_SECRET' } },
    '[0].introspection: expected either secret-file or secret-variable',
  ],
  [
    'a variable that is not set',
    { ...OAUTH, introspection: { 'client-id': 'longhaul', 'secret-variable': 'INTROSPECTION_SECRET' } },
    'expected a secret in the environment variable INTROSPECTION_SECRET; got none',
  ],
  [
    'a file that is missing',
    { ...OAUTH, introspection: { ...INTROSPECTION, 'secret-file': 'missing' } },
    'missing: expected a file with a secret; ENOENT',
  ],
  [
    'a file that is empty',
    { ...OAUTH, introspection: { ...INTROSPECTION, 'secret-file': 'empty' } },
    'empty: expected a secret; got an empty file',
  ],
  [
    'an endpoint that is no URL',
    { ...OAUTH, introspection: { ...INTROSPECTION, endpoint: 'login.example.com' } },
    '[0].introspection.endpoint: expected an http or https URL',
  ],
])('a source with %s is refused with its place', async (_what, source, message) => {
  await expect(checkSources(source)).rejects.toThrow(message);
  await expect(checkSources(source)).rejects.toThrow(/tokens-\S+\.yml:\d+:\d+: \[0\]/);
});

test('two sources in one header are refused', async () => {
  await expect(checkSources(GATEWAY, { ...GATEWAY, header: 'x-pomerium-jwt-assertion' })).rejects.toThrow(
    '[1].header: expected one source for each header; got x-pomerium-jwt-assertion again',
  );
});

test('tokens need their sources, and sources need tokens', async () => {
  await expect(check({ authentication: 'tokens' })).rejects.toThrow('expected --token-sources too');
  const { LONGHAUL_TOKEN_SOURCES: tokenSources } = acceptTokens(folder, OAUTH);
  await expect(check({ authentication: 'keys', tokenSources })).rejects.toThrow(
    '--token-sources: expected tokens in --authentication',
  );
  await expect(check({ authentication: 'tokens', tokenSources: 'missing.yml' })).rejects.toThrow(
    'missing.yml: expected a file of token sources; ENOENT',
  );
  await expect(check({ authentication: 'password' })).rejects.toThrow('--authentication: ');
});
