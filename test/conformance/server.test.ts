import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestStack } from '../support/test-stack.js';
import { APPLIES, CHECKS_THAT_DO_NOT_APPLY, DOES_NOT_APPLY, REVISIONS } from './scenarios.js';
import { installSuite, runScenario, serverScenarios } from './suite.js';

await installSuite();
const scenarios = await serverScenarios();

let parts: TestStack;
beforeAll(async () => {
  parts = await TestStack.start();
});
afterAll(() => parts?.stop());

test("every one of the suite's scenarios for servers applies, or there is a reason why not", () => {
  const known = [...APPLIES, ...Object.keys(DOES_NOT_APPLY)];
  expect(known.toSorted()).toEqual(scenarios.map(({ name }) => name).toSorted());
});

test('the reasons stand in the README', () => {
  const readme = readFileSync('test/conformance/README.md', 'utf8').replaceAll(/\s+/g, ' ');
  for (const [name, reason] of Object.entries(DOES_NOT_APPLY))
    expect(readme).toContain(`| \`${name}\` | ${reason} |`);
  for (const [scenario, checks] of Object.entries(CHECKS_THAT_DO_NOT_APPLY))
    for (const [check, reason] of Object.entries(checks))
      expect(readme).toContain(`| \`${scenario}\` | \`${check}\` | ${reason} |`);
});

async function expectToPass(name: string, revision?: string): Promise<void> {
  const excused = CHECKS_THAT_DO_NOT_APPLY[name] ?? {};
  const checks = await runScenario(parts.client.url, name, revision);
  const isPassed = ({ status }: { status: string }) => status === 'SUCCESS' || status === 'INFO';
  expect(checks.filter((check) => !isPassed(check) && !(check.id in excused))).toEqual([]);
  expect(checks.some(({ status }) => status === 'SUCCESS')).toBe(true);
}

const applying = scenarios.filter(({ name }) => APPLIES.has(name));

describe.each(REVISIONS)('on the wire of %s', (revision) => {
  test.each(applying.filter(({ revisions }) => revisions.includes(revision)).map(({ name }) => name))(
    'the official scenario %s passes',
    (name) => expectToPass(name, revision),
  );
});

describe('of extensions', () => {
  test.each(applying.filter(({ revisions }) => revisions.length === 0).map(({ name }) => name))(
    'the official scenario %s passes',
    (name) => expectToPass(name),
  );
});
