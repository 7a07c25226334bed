/** The policy file: its schema, the rights that roles give, cases, and edits. */
import { rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import { checkCase, parsePolicy, Policy, rightsOf } from '../../mcp-server/auth/policy/index.js';
import { temporaryFolder } from '../support/for-all-tests.js';

const folder = temporaryFolder('policy');

const POLICY = `
roles:
  analyst:
    members: [{ group: analysts }, { scope: analyse }]
    tools: [analyze_dataset, 'report_*']
    own: [read, answer, cancel]
  release-manager:
    members: [{ tenant: acme, subject: rita }, { tenant: acme, group: managers }]
    tenant: [read, answer]
  operator:
    members: [{ group: operators }]
    own: [operate, mailbox]
    tenant: [operate]
  guest:
    members: [everyone]
    own: [read]
cases:
  - name: analysts start analyses, and nothing else
    caller: { tenant: acme, subject: ann, groups: [analysts] }
    roles: [analyst, guest]
    can: [start analyze_dataset, start report_sales, read own, cancel own]
    cannot: [start deploy, resume own, read tenant, mailbox]
`;
const caller = (more: object = {}) => ({
  tenant: 'acme',
  subject: 'someone',
  groups: [],
  scopes: [],
  ...more,
});

test('rights are those of all roles; all fields of a member have to match', () => {
  const policy = parsePolicy(POLICY, 'policy.yml');
  const rights = (more: object) => {
    const { roles, own, tenant, mailbox, mayStart } = rightsOf(policy, caller(more));
    const started = ['analyze_dataset', 'report_x', 'deploy', 'xreport_'].filter(mayStart);
    return { roles, own: [...own], tenant: [...tenant], mailbox, started };
  };
  expect(rights({})).toEqual({ roles: ['guest'], own: ['read'], tenant: [], mailbox: false, started: [] });
  expect(rights({ scopes: ['analyse'] })).toEqual({
    roles: ['analyst', 'guest'],
    own: ['read', 'answer', 'cancel'],
    tenant: [],
    mailbox: false,
    started: ['analyze_dataset', 'report_x'],
  });
  expect(rights({ subject: 'rita' })).toMatchObject({ tenant: ['read', 'answer'] });
  expect(rights({ subject: 'rita', tenant: 'other' })).toMatchObject({ roles: ['guest'] });
  expect(rights({ groups: ['managers'], tenant: 'other' })).toMatchObject({ roles: ['guest'] });
  const all = ['read', 'answer', 'cancel', 'resume', 'delete'];
  expect(rights({ groups: ['operators'] })).toMatchObject({ own: all, tenant: all, mailbox: true });
});

test('a case says what does not hold', () => {
  const policy = parsePolicy(POLICY, 'policy.yml');
  expect(policy.cases.map((one) => checkCase(policy, one))).toEqual([[]]);
  const [first] = policy.cases;
  expect(
    checkCase(policy, { ...first!, roles: ['analyst'], can: ['start deploy'], cannot: ['read own'] }),
  ).toEqual([
    'roles: expected analyst; got analyst, guest',
    'can: start deploy: it is not allowed',
    'cannot: read own: it is allowed',
  ]);
});

test.each([
  ['roles: []', 'p.yml:1:8: roles: expected a map of names and roles'],
  ['roles:\n  a:\n    members: [everyone]\n    tool: [x]', 'p.yml:4:'],
  ['roles:\n  a:\n    member: [everyone]', 'roles.a.member: unknown key; did you mean "members"?'],
  ['roles:\n  a: { members: [{ grup: x }] }', 'p.yml:2:'],
  ['roles:\n  a: { members: [{ subject: x }] }', 'expected the tenant of the subject too'],
  ['roles:\n  a: { members: [everybody] }', 'roles.a.members[0]: expected everyone, or a map with tenant'],
  ['roles:\n  a: { members: [everyone], own: [reed] }', 'roles.a.own[0]: expected read, answer'],
  ['roles:\n  a: { members: [everyone], tools: ["a b"] }', 'roles.a.tools[0]: expected the name of a tool'],
  [
    'roles:\n  a: { members: [everyone] }\ncases:\n  - { name: x, caller: { tenant: a, subject: b }, can: [fly] }',
    'cases[0].can[0]: expected start TOOL',
  ],
  ['roles: {a: ', 'p.yml:1:'],
  ['', 'expected a map with roles and cases'],
])('%j is refused with its place', (text, expected) => {
  expect(() => parsePolicy(text, 'p.yml')).toThrow(expected);
});

test('an edit takes effect; an edit that is not valid is refused, and the rights stay', () => {
  jest.useFakeTimers({ now: Date.now() });
  const path = join(folder, 'edited.yml');
  let edits = 0;
  const write = (text: string) => {
    writeFileSync(path, text);
    utimesSync(path, new Date(), new Date(Date.now() + (edits += 1) * 10_000));
    jest.advanceTimersByTime(1_001);
  };
  write('roles: { a: { members: [everyone], own: [read] } }');
  const log: string[] = [];
  const logger = { error: (_: object, text: string) => void log.push(text), info: () => undefined };
  const policy = new Policy(path, logger as never);
  const someone = caller();
  expect([...policy.rightsOf(someone).own]).toEqual(['read']);
  write('roles: { a: { members: [everyone], own: [read, cancel] } }');
  expect([...policy.rightsOf(someone).own]).toEqual(['read', 'cancel']);
  write('roles: { a: { members: [everyone], onw: [read] } }');
  expect([...policy.rightsOf(someone).own]).toEqual(['read', 'cancel']);
  expect(log).toEqual(['the edited policy is refused; the one before stays in force']);
  rmSync(path);
  jest.advanceTimersByTime(1_001);
  expect([...policy.rightsOf(someone).own]).toEqual(['read', 'cancel']);
  expect(() => new Policy(path, logger as never)).toThrow('expected a policy file');
  jest.useRealTimers();
});
