import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { forAllTests } from '../support/for-all-tests.js';
import { TestStack } from '../support/test-stack.js';
import { APPLIES, CHECKS_THAT_DO_NOT_APPLY, DOES_NOT_APPLY, REVISIONS } from './scenarios.js';
import {
  installSuite,
  runRevision,
  runScenario,
  serverScenarios,
  type Check,
  type Outcomes,
} from './suite.js';

await installSuite();
const scenarios = await serverScenarios();

const parts = await forAllTests(TestStack.shared());

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

/** Names of the scenarios that apply, of a revision or of extensions. */
const applying = (revision?: string) =>
  scenarios
    .filter(({ name, revisions }) => {
      const isWanted = revision === undefined ? revisions.length === 0 : revisions.includes(revision);
      return isWanted && APPLIES.has(name);
    })
    .map(({ name }) => name);

function expectToPass(names: string[], outcomes: Outcomes): void {
  const isPassed = ({ status }: Check) => status === 'SUCCESS' || status === 'INFO';
  const failed = (name: string) => {
    const excused = CHECKS_THAT_DO_NOT_APPLY[name] ?? {};
    return outcomes.get(name)?.filter((check) => !isPassed(check) && !(check.id in excused));
  };
  expect(names).not.toEqual([]);
  expect(names.map((name) => [name, failed(name)])).toEqual(names.map((name) => [name, []]));
  const silent = names.filter((name) => !outcomes.get(name)!.some(({ status }) => status === 'SUCCESS'));
  expect(silent).toEqual([]);
}

test.each(REVISIONS)('the official scenarios pass on the wire of %s', async (revision) => {
  expectToPass(applying(revision), await runRevision(parts.client.url, revision));
});

test('the official scenarios of extensions pass', async () => {
  const names = applying();
  const outcomes = await Promise.all(names.map((name) => runScenario(parts.client.url, name)));
  expectToPass(names, new Map(outcomes.flatMap((one) => [...one])));
});
