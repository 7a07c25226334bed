/** Whom credentials stand for: tenant, subject, groups and scopes. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { ApiKeys } from '../../mcp-server/auth/api-keys.js';
import { callerOfClaims } from '../../mcp-server/auth/tokens.js';
import { addApiKey, revokeApiKey } from '../../mcp-server/auth/key-store.js';
import type { TokenSource } from '../../platform/settings/token-sources.js';
import { createLogger } from '../../platform/observe/log.js';
import { temporaryFolder } from '../support/for-all-tests.js';

const logger = createLogger('test', 'silent');
let folder: string;
beforeEach(() => {
  folder = temporaryFolder('keys');
});
afterEach(() => void jest.useRealTimers());

const callerOf = (claims: Record<string, unknown>, names: Partial<TokenSource['claims']> = {}) =>
  callerOfClaims(
    { issuer: 'https://login.example.com', claims: { subject: 'sub', groups: 'groups', ...names } },
    { sub: 'alice', ...claims },
  );

test('claims name tenant, subject, groups and scopes', () => {
  expect(callerOf({ groups: ['ops', 'sre'], scope: 'openid longhaul' })).toEqual({
    tenant: 'login.example.com',
    subject: 'alice',
    principal: 'login.example.com/alice',
    credential: { kind: 'token', issuer: 'https://login.example.com' },
    groups: ['ops', 'sre'],
    scopes: ['openid', 'longhaul'],
  });
  expect(
    callerOf(
      { org: 'acme', oid: '7', roles: ['a'], groups: ['b'] },
      { tenant: 'org', subject: 'oid', groups: 'roles' },
    ),
  ).toMatchObject({ principal: 'acme/7', groups: ['a'] });
});

test.each<[unknown, string[]]>([
  [undefined, []],
  ['ops', ['ops']],
  ['on call, nights', ['on call, nights']],
  [[], []],
  [['ops', 7, null, '', ['nested']], ['ops']],
  [{ ops: true }, []],
])('groups %j are %j', (groups, expected) => expect(callerOf({ groups }).groups).toEqual(expected));

test.each<[Record<string, unknown>, string[]]>([
  [{}, []],
  [{ scope: '' }, []],
  [{ scope: 'a  b' }, ['a', 'b']],
  [{ scp: ['a', 'b c'] }, ['a', 'b c']],
  [{ scp: 'a b' }, ['a', 'b']],
  [{ scope: 'a', scp: 'b' }, ['a']],
])('scopes of %j are %j', (claims, expected) => expect(callerOf(claims).scopes).toEqual(expected));

test('a claim within another is named by a path, unless a claim has that very name', () => {
  const claims = { realm_access: { roles: ['nested'] }, 'https://example.com/groups': ['plain'] };
  const groupsOf = (groups: string, more = {}) => callerOf({ ...claims, ...more }, { groups }).groups;
  expect(groupsOf('realm_access.roles')).toEqual(['nested']);
  expect(groupsOf('https://example.com/groups')).toEqual(['plain']);
  expect(groupsOf('realm_access.roles', { 'realm_access.roles': ['flat'] })).toEqual(['flat']);
  for (const missing of ['realm_access', 'realm_access.roles.0.x', 'constructor.name', '.', 'nothing.at.all'])
    expect(groupsOf(missing)).toEqual([]);
});

test('a claim that is no name is refused with its name', () => {
  expect(() => callerOf({ sub: 7 })).toThrow('The claim sub of the token: ');
  expect(() => callerOf({ sub: '' })).toThrow('The claim sub of the token: ');
  expect(() => callerOf({}, { tenant: 'org.name' })).toThrow('The claim org.name of the token: ');
});

test('a key has the groups that it was made with; one without has none', () => {
  const keys = new ApiKeys(folder, logger);
  const [with2] = addApiKey(folder, { tenant: 'acme', subject: 'alice', groups: ['ops', 'on call'] });
  const [without, { id }] = addApiKey(folder, { tenant: 'acme', subject: 'bob' });
  expect(keys.callerOf(with2)).toMatchObject({
    principal: 'acme/alice',
    tenant: 'acme',
    subject: 'alice',
    groups: ['ops', 'on call'],
    scopes: [],
  });
  expect(keys.callerOf(without).groups).toEqual([]);
  const path = join(folder, `${id}.json`);
  const entry = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, JSON.stringify({ ...entry, groups: ['a,b'] }));
  expect(() => keys.callerOf(without)).toThrow('unknown, revoked or expired');
});

test("open streams of a key share one read of its file in each round of checks; a new request doesn't", () => {
  jest.useFakeTimers();
  const keys = new ApiKeys(folder, logger);
  const [text, { id }] = addApiKey(folder, { tenant: 'acme', subject: 'alice' });
  const [other] = addApiKey(folder, { tenant: 'acme', subject: 'alice' });
  const [first, second, third] = [keys.callerOf(text), keys.callerOf(text), keys.callerOf(other)];
  expect(first.isValid()).toBe(true);
  revokeApiKey(folder, id);
  expect(second.isValid()).toBe(true);
  expect(() => keys.callerOf(text)).toThrow('unknown, revoked or expired');
  jest.advanceTimersByTime(1_000);
  expect([first, second, third].map((caller) => caller.isValid())).toEqual([false, false, true]);
});
