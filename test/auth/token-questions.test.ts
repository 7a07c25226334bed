/** Questions to an authorization server: about tokens, and for its keys, under floods of unknown tokens. */
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { SignJWT } from 'jose';
import {
  AuthenticationUnavailable,
  CredentialUnknown,
  unavailabilityOf,
} from '../../mcp-server/auth/challenge.js';
import { Introspection } from '../../mcp-server/auth/introspection.js';
import { remoteKeys, verifyJwt } from '../../mcp-server/auth/jwt.js';
import { createLogger } from '../../platform/observe/log.js';
import { eventually } from '../support/eventually.js';
import { forged } from '../support/forged.js';
import { Issuer } from './issuer.js';

const unavailable = unavailabilityOf('https://issuer.example.com', createLogger('test', 'silent'));
const ENDPOINT = 'https://issuer.example.com/introspect';

/** A question that waits for its answer. */
interface Question {
  token: string;
  answer: (body: object, status?: number) => void;
}

let questions: Question[];
let introspection: Introspection;
beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  questions = [];
  jest.spyOn(globalThis, 'fetch').mockImplementation(
    (_url, init) =>
      new Promise((resolve) => {
        questions.push({
          token: (init!.body as URLSearchParams).get('token')!,
          answer: (body, status = 200) => resolve(Response.json(body, { status })),
        });
      }),
  );
  const client = { clientId: 'longhaul', secret: () => 'hush' };
  introspection = new Introspection(client, async () => ({ url: ENDPOINT, usesPost: false }), unavailable);
});
afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
const check = (token: string, isSuspect = false) =>
  introspection.check({ token, isSuspect, isSigned: false }, ({ sub }) => sub);
/** Failure of a check. */
const failure = (checked: Promise<unknown>) => checked.then(String, (error: Error) => error);
/** Answers all questions so far. */
async function answerAll(body: object, status?: number): Promise<string[]> {
  await settled();
  const asked = questions.splice(0);
  for (const { answer } of asked) answer(body, status);
  await settled();
  return asked.map(({ token }) => token);
}
const ALICE = { active: true, sub: 'alice' };

/** Checks a token that is valid. */
async function makeValid(token: string): Promise<void> {
  const checked = check(token);
  await answerAll(ALICE);
  expect((await checked).accepted).toBe('alice');
}

test('requests with one token at the same time share one question, and its answer for 5 seconds', async () => {
  const wrong = Promise.all([1, 2, 3].map(() => failure(check('wrong'))));
  expect(await answerAll({ active: false })).toEqual(['wrong']);
  for (const error of await wrong) expect(error).toBeInstanceOf(CredentialUnknown);
  jest.advanceTimersByTime(4_900);
  expect(await failure(check('wrong'))).toBeInstanceOf(CredentialUnknown);
  expect(await answerAll({})).toEqual([]);
  jest.advanceTimersByTime(200);
  const again = check('wrong');
  expect(await answerAll(ALICE)).toEqual(['wrong']);
  expect((await again).accepted).toBe('alice');
});

test('an answer is used no longer than its token is valid', async () => {
  const nowSeconds = Math.floor(Date.now() / 1_000);
  const checked = check('token');
  // Clocks may differ by 5 seconds.
  await answerAll({ ...ALICE, exp: nowSeconds - 2 });
  const { isValid } = await checked;
  expect(isValid()).toBe(true);
  jest.advanceTimersByTime(3_500);
  expect(isValid()).toBe(false);
  expect(await failure(check('token'))).toMatchObject({ message: 'The token has expired' });
});

test('a token that was valid, or is signed, is no guess once it is revoked', async () => {
  await makeValid('token');
  jest.advanceTimersByTime(6_000);
  const revoked = failure(check('token'));
  await answerAll({ active: false });
  expect(await revoked).not.toBeInstanceOf(CredentialUnknown);
  expect(await revoked).toMatchObject({ message: 'The token is unknown, revoked or expired' });
  const signed = failure(introspection.check({ token: 'JWT', isSuspect: true, isSigned: true }, () => 1));
  await answerAll({ active: false });
  expect(await signed).not.toBeInstanceOf(CredentialUnknown);
});

test('wrong tokens displace no valid one', async () => {
  await makeValid('token');
  for (let at = 0; at < 11_000; at += 500) {
    const wrong = Array.from({ length: 500 }, (_, index) => failure(check(`wrong ${at + index}`)));
    while ((await answerAll({ active: false })).length > 0);
    await Promise.all(wrong);
  }
  expect((await check('token')).accepted).toBe('alice');
});

test('valid tokens are asked about before new ones, and those before tokens of suspects', async () => {
  await makeValid('valid');
  jest.advanceTimersByTime(6_000);
  const first = Array.from({ length: 32 }, (_, index) => failure(check(`first ${index}`, true)));
  const later = ['suspect', 'new', 'valid'].map((token) => failure(check(token, token === 'suspect')));
  expect(await answerAll({ active: false })).toHaveLength(32);
  expect(await answerAll({ active: false })).toEqual(['valid', 'new', 'suspect']);
  await Promise.all([...first, ...later]);
});

test('a full queue of wrong tokens keeps none out that was valid, nor new ones from other addresses', async () => {
  await makeValid('valid');
  jest.advanceTimersByTime(6_000);
  const flood = Array.from({ length: 1_100 }, (_, index) => failure(check(`wrong ${index}`, true)));
  expect(await failure(check('one more', true))).toBeInstanceOf(AuthenticationUnavailable);
  const kept = ['valid', 'new'].map((token) => check(token));
  expect(await answerAll({ active: false })).toHaveLength(32);
  expect((await answerAll(ALICE)).slice(0, 2)).toEqual(['valid', 'new']);
  for (const checked of kept) expect((await checked).accepted).toBe('alice');
  while ((await answerAll({ active: false })).length > 0);
  await Promise.all(flood);
});

test('after a failure, a token is asked about again a second later', async () => {
  const failed = failure(check('token'));
  await answerAll({}, 500);
  expect(await failed).toBeInstanceOf(AuthenticationUnavailable);
  expect(await failure(check('token'))).toBeInstanceOf(AuthenticationUnavailable);
  expect(questions).toEqual([]);
  await makeValid('another');
  jest.advanceTimersByTime(1_100);
  await makeValid('token');
});

/** Checks of JWTs with the keys of an issuer. */
async function withJwts(
  use: (issuer: Issuer, sign: (claims: object, kid?: string) => Promise<string>) => Promise<void>,
): Promise<void> {
  jest.restoreAllMocks();
  jest.useRealTimers();
  const issuer = await Issuer.start();
  try {
    const key = await issuer.newKey('first');
    await use(issuer, (claims, kid = 'first') =>
      new SignJWT({ aud: 'longhaul', ...claims })
        .setProtectedHeader({ alg: 'RS256', kid })
        .setIssuer(issuer.url)
        .setExpirationTime('1m')
        .sign(key),
    );
  } finally {
    await issuer.close();
  }
}

/** Failure of a check with keys that are read when they are needed. */
function verifier({ url }: Issuer): (token: string) => Promise<unknown> {
  const rules = { issuer: url, audience: ['longhaul'] };
  const keys = remoteKeys(`${url}/jwks`, unavailable);
  return (token) => failure(verifyJwt(token, rules, keys));
}

test('while the authorization server fails, its keys are asked for once in a second', () =>
  withJwts(async (issuer, sign) => {
    let asked = 0;
    issuer.answerKeys = (response) => {
      asked += 1;
      response.writeHead(500).end();
    };
    const verify = verifier(issuer);
    const token = await sign({});
    for (let request = 0; request < 20; request += 1)
      expect(await verify(token)).toBeInstanceOf(AuthenticationUnavailable);
    expect(asked).toBeLessThan(20);
    issuer.answerKeys = undefined;
    await eventually('it has recovered', async () => !((await verify(token)) instanceof Error));
  }));

test('a JWT without a valid signature is a guess; one with a wrong claim is not', () =>
  withJwts(async (issuer, sign) => {
    const verify = verifier(issuer);
    for (const claims of [{ aud: 'another' }, { iss: 'another' }, { exp: 1 }])
      expect(await verify(await sign(claims))).not.toBeInstanceOf(CredentialUnknown);
    const token = await sign({});
    for (const wrong of [forged(token), await sign({}, 'unknown'), 'no JWT'])
      expect(await verify(wrong)).toBeInstanceOf(CredentialUnknown);
  }));
