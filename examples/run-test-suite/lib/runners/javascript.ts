/** node:test, jest and vitest, each with a reporter from `reporters/`. */
import { access } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { nodeTestFiles } from '../detect.js';
import { RunnerMissing } from './missing.js';
import { REPORTERS } from './reporters.js';
import type { RunnerAdapter } from './index.js';

const escape = (text: string) => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');

/** A pattern for all of these tests; jest and vitest match it against names joined by spaces. */
const namesPattern = (tests: { name: string }[]) =>
  tests
    .map(({ name }) => name.replace(/ \(\d+\)$/, ''))
    // A file that can't be loaded is run whole.
    .map((name) => (name === '(the file)' ? '' : `^${escape(name.replaceAll(' > ', ' '))}$`))
    .join('|');
const filesOf = (tests: { file: string }[]) => [...new Set(tests.map(({ file }) => file))];

export const node: RunnerAdapter = {
  list: ({ folder }) => nodeTestFiles(folder),
  hasListedShards: false,
  run: async ({ folder, filter, runnerArgs }, { name }) => [
    ...nodeCommand(runnerArgs),
    `--test-shard=${name}`,
    ...(filter === undefined ? [] : [`--test-name-pattern=${filter}`]),
    ...(await nodeTestFiles(folder)),
  ],
  // By file: node 20 runs subtests only where their parent's name matches too.
  rerun: async ({ runnerArgs }, tests) => [...nodeCommand(runnerArgs), ...filesOf(tests)],
};

const nodeCommand = (runnerArgs: string[]) => [
  process.execPath,
  '--test',
  '--test-reporter=spec',
  '--test-reporter-destination=stdout',
  `--test-reporter=${join(REPORTERS, 'node.mjs')}`,
  // The reporter yields nothing: it writes to descriptor 3 itself.
  '--test-reporter-destination=stderr',
  ...runnerArgs,
];

export const jest: RunnerAdapter = {
  list: async ({ folder, runnerArgs }, capture) => {
    const { stdout } = await capture([
      ...(await installed(folder, 'jest')),
      '--listTests',
      '--json',
      ...runnerArgs,
    ]);
    return JSON.parse(stdout.slice(stdout.indexOf('['))) as string[];
  },
  hasListedShards: false,
  run: async ({ folder, filter, runnerArgs }, { name }) => [
    ...(await jestCommand(folder, runnerArgs)),
    `--shard=${name}`,
    ...(filter === undefined ? [] : [`--testNamePattern=${filter}`]),
  ],
  rerun: async ({ folder, runnerArgs }, tests) => [
    ...(await jestCommand(folder, runnerArgs)),
    `--testNamePattern=${namesPattern(tests)}`,
    '--runTestsByPath',
    ...filesOf(tests),
  ],
};

const jestCommand = async (folder: string, runnerArgs: string[]) => [
  ...(await installed(folder, 'jest')),
  '--ci',
  '--reporters=default',
  `--reporters=${join(REPORTERS, 'jest.mjs')}`,
  '--passWithNoTests',
  ...runnerArgs,
];

export const vitest: RunnerAdapter = {
  list: async ({ folder, runnerArgs }, capture) => {
    const command = await installed(folder, 'vitest');
    const { stdout } = await capture([...command, 'list', '--filesOnly', '--json', ...runnerArgs]);
    const files = JSON.parse(stdout.slice(stdout.indexOf('['))) as { file: string }[];
    return files.map(({ file }) => file);
  },
  hasListedShards: false,
  run: async ({ folder, filter, runnerArgs }, { name }) => [
    ...(await vitestCommand(folder, runnerArgs)),
    `--shard=${name}`,
    ...(filter === undefined ? [] : [`--testNamePattern=${filter}`]),
  ],
  rerun: async ({ folder, runnerArgs }, tests) => [
    ...(await vitestCommand(folder, runnerArgs)),
    `--testNamePattern=${namesPattern(tests)}`,
    ...filesOf(tests),
  ],
};

const vitestCommand = async (folder: string, runnerArgs: string[]) => [
  ...(await installed(folder, 'vitest')),
  'run',
  '--reporter=default',
  `--reporter=${join(REPORTERS, 'vitest.mjs')}`,
  '--passWithNoTests',
  ...runnerArgs,
];

/** A command of the project's packages, or of a folder above it. @throws RunnerMissing */
async function installed(folder: string, name: string): Promise<string[]> {
  for (let at = folder; ; at = dirname(at)) {
    const path = join(at, 'node_modules', '.bin', name);
    const isThere = await access(path).then(
      () => true,
      () => false,
    );
    if (isThere) return [path];
    if (at === dirname(at)) break;
  }
  throw new RunnerMissing(`${name} isn't installed in ${folder}: run npm install there`);
}
