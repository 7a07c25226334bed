/** Files that are too large, too deep, or made to harm: the check of one that explodes would outlast the test's time limit. */
import { describe, expect, test } from '@jest/globals';
import { parsePipeline } from '../../pipelines/parse.js';
import { problemsOf } from './language-support.js';

function manyJobs(count: number, needs: (index: number) => string): string {
  const jobs = Array.from(
    { length: count },
    (_, index) => `  j${index}:\n    needs: [${needs(index)}]\n    steps: [{ run: one }, { run: two }]`,
  );
  return `jobs:\n${jobs.join('\n')}\n`;
}

test('1,000 jobs one behind the other are checked', () => {
  expect(problemsOf(manyJobs(1000, (index) => (index ? `j${index - 1}` : '')))).toEqual([]);
});

test('a cycle through 1,000 jobs is named once, by its two ends', () => {
  const problems = problemsOf(manyJobs(1000, (index) => `j${(index + 1) % 1000}`));
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(
    'jobs.j999.needs[0]: jobs need each other: j999 -> j0 -> j1 -> j2 -> j3 -> j4 -> (991 more) -> j996 -> j997 -> j998 -> j999',
  );
});

test('more jobs than 1,000 are refused', () => {
  expect(problemsOf(manyJobs(1001, () => ''))).toEqual(['1:1: jobs: expected 1 to 1000 jobs; got 1001']);
});

test('jobs that all need all others before them are checked', () => {
  const problems = problemsOf(
    manyJobs(500, (index) => Array.from({ length: index }, (_, before) => `j${before}`).join()),
  );
  expect(problems).toEqual([]);
});

test('more steps than an operation may run are refused', () => {
  const steps = Array.from({ length: 200 }, () => '{ run: x }').join();
  const jobs = Array.from({ length: 26 }, (_, index) => `  j${index}: { steps: [${steps}] }`).join('\n');
  expect(problemsOf(`jobs:\n${jobs}`)).toEqual([
    '1:1: jobs: expected at most 5000 steps in all jobs; got 5200',
  ]);
});

test('a file of more than 1 MiB is refused unread', () => {
  expect(problemsOf('#'.repeat(1024 * 1024 + 1))).toEqual(['1:1: expected at most 1 MiB; got 1048577 bytes']);
});

test('at most 100 problems are reported, and the number of others', () => {
  const problems = problemsOf(Array.from({ length: 1000 }, (_, index) => `key${index}: 1`).join('\n'));
  expect(problems).toHaveLength(101);
  expect(problems.at(-1)).toMatch(/901 more problems$/);
});

describe('bombs', () => {
  const laughs = ['l0: &l0 [lol]'];
  for (let level = 1; level < 30; level += 1)
    laughs.push(`l${level}: &l${level} [${Array.from({ length: 9 }, () => `*l${level - 1}`).join()}]`);

  test.each([
    ['aliases of aliases', laughs.join('\n'), 'expected aliases of at most 1 MiB when written out; got more'],
    [
      'an alias within itself',
      'jobs: &a { b: *a }',
      '*a: expected an alias of another value; it is within &a itself',
    ],
    ['lists in lists', '['.repeat(500_000), 'expected at most 100 levels of nesting; got more'],
    ['maps in maps', '{a: '.repeat(200_000), 'expected at most 100 levels of nesting; got more'],
    ['many keys', Array.from({ length: 100_000 }, (_, index) => `k${index}:`).join('\n'), 'k0: unknown key'],
    ['the same key again and again', 'a: 1\n'.repeat(200_000), 'a: duplicate key'],
    ['many expressions', `a: "${'${{'.repeat(300_000)}"`, 'a: ${{: there are no expressions'],
    ['many aliases', `a: &a 1\nb: [${'*a,'.repeat(200_000)}]`, 'aliases of at most 1 MiB'],
    ['many documents', '---\n'.repeat(200_000), 'expected one document; `---` begins another'],
  ])('%s end in a problem', (_, text, expected) => {
    expect(problemsOf(text).join('\n')).toContain(expected);
  });
});

test('bytes that are not UTF-8 are refused', () => {
  expect(parsePipeline(new Uint8Array([0x6a, 0xff, 0xfe]), 'x.yml').problems).toEqual([
    { path: 'x.yml', line: 1, column: 1, message: 'expected text in UTF-8; got other bytes' },
  ]);
});
