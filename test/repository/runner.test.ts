/** The runner reads reports, writes records, and shows failures. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fileResults, runFailures, slowest, summary, type JestReport } from '../runner/jest-report.js';
import { formatRecord, makeRecord } from '../runner/record.js';
import { chooseFiles } from '../runner/run-jest.js';

const SEQUENCER: string = '../spread-long-files.js';
const { spread } = (await import(SEQUENCER)) as {
  spread: (paths: string[], files: { [path: string]: { seconds: number } }) => string[];
};

type Assertion = JestReport['testResults'][number]['assertionResults'][number];
const file = (
  name: string,
  seconds: number,
  assertionResults: Assertion[],
  status = 'passed',
  message = '',
): JestReport['testResults'][number] => ({
  ...{ name: `/root/${name}`, status, message, assertionResults },
  ...{ startTime: 1_000, endTime: 1_000 + seconds * 1_000 },
});
const REPORT: JestReport = {
  success: false,
  testResults: [
    file('test/plain/a.test.ts', 2.5, [
      { fullName: 'a wait ends', status: 'passed', invocations: 1 },
      { fullName: 'a wait is resumed', status: 'passed', invocations: 2 },
      { fullName: 'a wait is long', status: 'pending' },
      {
        fullName: 'a wait is short',
        status: 'failed',
        failureMessages: ['\u001b[31mError: late\u001b[0m\n  at x\n  at y\n  at z'],
      },
    ]),
    file('test/plain/b.test.ts', 1, [], 'failed', 'SyntaxError: no such export'),
  ],
};

describe('a report', () => {
  const results = fileResults(REPORT, '/root');

  test('counts a retried test and a file that was not loaded as failed', () => {
    expect(results.map(({ path, counts }) => [path, counts])).toEqual([
      ['test/plain/a.test.ts', { passed: 1, failed: 2, skipped: 1 }],
      ['test/plain/b.test.ts', { passed: 0, failed: 1, skipped: 0 }],
    ]);
  });

  test('names the failed tests with the beginning of their messages', () => {
    expect(results.flatMap(({ failures }) => failures)).toEqual([
      'test/plain/a.test.ts: a wait is resumed: passed in attempt 2',
      'test/plain/a.test.ts: a wait is short: Error: late /   at x /   at y /   at z',
      'test/plain/b.test.ts: SyntaxError: no such export',
    ]);
  });

  test('gives the slowest files', () => {
    expect(slowest(results, 1)).toEqual(['    2.5 test/plain/a.test.ts']);
  });

  test('that is missing, lacks a file, or fails without a failed test is a failure', () => {
    expect(runFailures(undefined)).toEqual(['Jest ended without a report']);
    expect(runFailures(REPORT, ['test/plain/c.test.ts'], '/root')).toEqual([
      'test/plain/c.test.ts: Jest did not run it',
    ]);
    expect(runFailures(REPORT, ['test/plain/a.test.ts'], '/root')).toEqual([]);
    expect(runFailures({ success: false, testResults: [] })).toEqual(['Jest failed, and no test did']);
  });

  test('is summed up on one line', () => {
    expect(summary({ passed: 3, failed: 0, skipped: 0 })).toBe('3 passed, 0 failed');
    expect(summary({ passed: 3, failed: 1, skipped: 2 })).toBe('3 passed, 1 failed, 2 skipped');
  });

  test('becomes a record of files and suites', () => {
    const suites = [{ name: 'plain', tests: ['test/plain/'], holds: 'plain calls', covers: [] }];
    const [a] = results;
    const record = makeRecord(
      suites,
      results,
      { name: 'postgres', results: [a!] },
      { commit: 'c0ffee', started: new Date(0), ended: new Date(120_000) },
    );
    expect(record).toEqual({
      ...{ commit: 'c0ffee', date: '1970-01-01T00:00:00.000Z', cores: expect.any(Number), minutes: 2 },
      ...{ passed: 2, failed: 5, skipped: 2 },
      suites: {
        plain: { passed: 1, failed: 3, skipped: 1, seconds: 3.5 },
        postgres: { passed: 1, failed: 2, skipped: 1, seconds: 2.5 },
      },
      files: {
        'test/plain/a.test.ts': { passed: 1, failed: 2, skipped: 1, seconds: 2.5 },
        'test/plain/b.test.ts': { passed: 0, failed: 1, skipped: 0, seconds: 1 },
      },
    });
    expect(JSON.parse(formatRecord(record))).toEqual(record);
  });
});

test.each([
  ['test/engine', true],
  ['tokens', true],
  ['--silent test/engine', true],
  ['--testPathPatterns=tokens', true],
  ['--listTests', true],
  ['', false],
  ['-t expired', false],
  ['--maxWorkers 2 --silent', false],
])('arguments of Jest choose files or not: %s', (args, chosen) => {
  const exists = (path: unknown) => path === 'test/engine';
  expect(chooseFiles(args.split(' ').filter(Boolean), exists)).toBe(chosen);
});

test('new files run first, long ones are spread, and the rest is ordered by its seconds', () => {
  const seconds = { a1: 200, a2: 130, ...Object.fromEntries([...Array(10).keys()].map((n) => [`b${n}`, n])) };
  const files = Object.fromEntries(
    Object.entries(seconds).map(([path, value]) => [path, { seconds: value }]),
  );
  expect(spread([...Object.keys(files), 'new'], files)).toEqual([
    ...['a1', 'new', 'b9', 'b8', 'b7', 'b6', 'b5', 'b4', 'b3'],
    ...['a2', 'b2', 'b1', 'b0'],
  ]);
});

describe('a failed test', () => {
  const folder = mkdtempSync('test/repository/failing-');
  const path = join(folder, 'failing.ts');
  const logs = join('test-logs', path);
  const jest = () =>
    spawnSync(
      process.execPath,
      [
        ...['node_modules/jest/bin/jest.js', '--rootDir', resolve('.'), '--runTestsByPath', path],
        ...['--config', join(folder, 'jest.config.json')],
      ],
      { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '--experimental-vm-modules' } },
    );
  const write = (expected: string) =>
    writeFileSync(
      path,
      `import { spawn } from 'node:child_process';
       import { once } from 'node:events';
       import { expect, test } from '@jest/globals';
       import { keepOutput } from '../../support/process-log.js';
       test('a child prints its lines', async () => {
         const child = spawn('seq', ['30']);
         keepOutput(child, 'seq 30');
         await once(child, 'close');
         expect('printed').toBe('${expected}');
       });`,
    );
  beforeAll(() => {
    const swc = [
      '@swc/jest',
      { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'es6' } },
    ];
    writeFileSync(
      join(folder, 'jest.config.json'),
      JSON.stringify({
        // Not the name of a test: others list them.
        testMatch: ['<rootDir>/test/repository/failing-*/*.ts'],
        extensionsToTreatAsEsm: ['.ts'],
        moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
        modulePathIgnorePatterns: ['<rootDir>/dist', '<rootDir>/examples/'],
        transform: { '^.+\\.ts$': swc },
        reporters: ['<rootDir>/test/reporter.js'],
      }),
    );
  });
  afterAll(() => {
    for (const each of [folder, logs]) rmSync(each, { recursive: true, force: true });
  });

  test('is shown with the last lines of its processes, whose logs stay until it passes', () => {
    write('no such text');
    const { status, stderr } = jest();
    expect(status).toBe(1);
    const last = [...Array(20).keys()].map((n) => `  ${n + 11}`);
    expect(stderr.split('\n')).toEqual(
      expect.arrayContaining([
        `FAILED ${path}`,
        '  test: a child prints its lines',
        `  logs of its processes, in ${logs}:`,
        '  -- 1-seq-30.log',
        ...last,
      ]),
    );
    expect(stderr).not.toContain('\n  10\n');
    expect(readFileSync(join(logs, '1-seq-30.log'), 'utf8').split('\n')).toHaveLength(31);
    write('printed');
    const passed = jest();
    expect([passed.status, passed.stderr]).toEqual([0, expect.not.stringContaining('FAILED')]);
    expect(existsSync(logs)).toBe(false);
  });
});
