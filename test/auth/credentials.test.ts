/** Which credential of a request decides, and whose tokens count where, with all kinds of credentials at once. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { exportSPKI, generateKeyPair, SignJWT, type CryptoKey } from 'jose';
import { Authentication } from '../../mcp-server/auth/index.js';
import { addApiKey } from '../../mcp-server/auth/key-store.js';
import { loadSettings } from '../../platform/settings/index.js';
import { createLogger } from '../../platform/observe/log.js';
import { forAllTests, forThisTest, temporaryFolder } from '../support/for-all-tests.js';
import { Issuer } from './issuer.js';
import { acceptTokens } from './token-sources.js';

const RESOURCE = 'https://longhaul.example.com/mcp';
const GATEWAY = 'https://gateway.example.com';
const HEADER = 'X-Gateway-Jwt';

const folder = temporaryFolder('credentials');
const issuer = await forAllTests(Issuer.start());
const gateway = await generateKeyPair('RS256');
const keys: { oauth: CryptoKey; gateway: CryptoKey } = {
  oauth: await issuer.newKey('first'),
  gateway: gateway.privateKey,
};
writeFileSync(join(folder, 'gateway.pem'), await exportSPKI(gateway.publicKey));
const [apiKey] = addApiKey(join(folder, 'keys'), { tenant: 'acme', subject: 'key' });
const authentication = await forAllTests(authenticationWith({}));

/** All kinds of credentials. */
async function authenticationWith({ issuerUrl = issuer.url, gatewayKeys = 'gateway.pem' }) {
  const tokens = acceptTokens(
    folder,
    { issuer: issuerUrl, audience: RESOURCE, claims: { tenant: 'org' } },
    {
      issuer: GATEWAY,
      audience: 'longhaul',
      header: HEADER,
      keys: gatewayKeys,
      claims: { tenant: 'org', subject: 'email' },
    },
  );
  const flags = { authentication: 'keys,tokens,mtls', keysFolder: 'keys' };
  return new Authentication(await loadSettings(flags, tokens, folder), createLogger('test', 'silent'));
}

const signed = (claims: object, key: CryptoKey) =>
  new SignJWT({ org: 'acme', ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: 'first' })
    .setExpirationTime('1m')
    .sign(key);
const accessToken = (key = keys.oauth) => signed({ iss: issuer.url, aud: RESOURCE, sub: 'token' }, key);
const gatewayJwt = (key = keys.gateway) => signed({ iss: GATEWAY, aud: 'longhaul', email: 'person' }, key);

const requestWith = (headers: Record<string, string>) => ({
  headers: new Headers(headers),
  isSuspect: false,
});
/** The principal of a request with these headers, or the name of the error. */
const callerOf = (headers: Record<string, string>) =>
  authentication
    .callerOf(requestWith(headers))
    .then(({ principal }) => principal)
    .catch((error: Error) => error.name);
const bearer = (text: string) => ({ authorization: `Bearer ${text}` });

test('each kind of credential names its caller', async () => {
  expect(await callerOf(bearer(apiKey))).toBe('acme/key');
  expect(await callerOf(bearer(await accessToken()))).toBe('acme/token');
  expect(await callerOf({ [HEADER]: await gatewayJwt() })).toBe('acme/person');
  expect(await callerOf({})).toBe('CredentialMissing');
});

test('a request with the header Authorization is judged by it alone', async () => {
  const gateway = { [HEADER]: await gatewayJwt() };
  expect(await callerOf({ ...gateway, ...bearer(apiKey) })).toBe('acme/key');
  expect(await callerOf({ ...gateway, ...bearer(await accessToken()) })).toBe('acme/token');
  for (const wrong of ['lh_no', 'no-token'])
    expect(await callerOf({ ...gateway, ...bearer(wrong) })).toBe('CredentialUnknown');
  for (const authorization of ['', 'Basic YTpi', apiKey, `Bearer ${apiKey}, Bearer ${apiKey}`])
    expect(await callerOf({ ...gateway, authorization })).toBe('CredentialMissing');
});

test('a token counts for its own issuer, in its own header', async () => {
  expect(await callerOf({ [HEADER]: await accessToken() })).toBe('CredentialUnknown');
  expect(await callerOf(bearer(await gatewayJwt()))).toBe('CredentialUnknown');
  // Right claims with the key of the other issuer.
  expect(await callerOf({ [HEADER]: await gatewayJwt(keys.oauth) })).toBe('CredentialUnknown');
  expect(await callerOf(bearer(await accessToken(keys.gateway)))).toBe('CredentialUnknown');
  // The right key with an issuer or audience of the other.
  for (const [iss, aud] of [
    [GATEWAY, RESOURCE],
    [issuer.url, 'longhaul'],
  ]) {
    const claims = { iss, aud, sub: 'someone', email: 'someone' };
    expect(await callerOf(bearer(await signed(claims, keys.oauth)))).toBe('InvalidToken');
    expect(await callerOf({ [HEADER]: await signed(claims, keys.gateway) })).toBe('InvalidToken');
  }
});

test('an issuer that is away keeps its tokens out, and no other credential', async () => {
  const away = await Issuer.start();
  const { url } = away;
  await away.close();
  const gatewayKeys = `${url}/keys`;
  const other = await forThisTest(authenticationWith({ issuerUrl: url, gatewayKeys }));
  const callerAt = (headers: Record<string, string>) => other.callerOf(requestWith(headers));
  for (const [headers, message] of [
    [bearer(await accessToken()), `tokens of ${url} can't be checked: ${url} does not answer`],
    [bearer('opaque'), `tokens of ${url} can't be checked: ${url} does not answer`],
    [
      { [HEADER]: await gatewayJwt() },
      `tokens of ${GATEWAY} can't be checked: ${gatewayKeys} does not answer`,
    ],
  ] as [Record<string, string>, string][])
    await expect(callerAt(headers)).rejects.toMatchObject({ name: 'AuthenticationUnavailable', message });
  expect((await callerAt(bearer(apiKey))).principal).toBe('acme/key');
});
