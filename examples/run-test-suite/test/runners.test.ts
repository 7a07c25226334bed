/** Every runner on its sample: what its reporter or its output is read as. Without Longhaul, and without mocks. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { Collector } from '../lib/collect.js';
import { detectRunners } from '../lib/detect.js';
import { runnerEnvironment } from '../lib/environment.js';
import { problemOf, runProcess } from '../lib/run-shard.js';
import { ADAPTERS, type Choice } from '../lib/runners/index.js';
import type { Runner, Shard, TestCase, TestEvent } from '../lib/types.js';
import { copySample, makeRoot, writeSuite } from './suites.js';

const run = promisify(execFile);

let root: string;
before(async () => {
  root = await makeRoot();
  await symlink(resolve('node_modules'), join(root, 'node_modules'));
});
after(() => rm(root, { recursive: true, force: true }));

/** Runs a command as an activity does. */
async function execute(
  choice: Choice,
  argv: string[],
  environment: Record<string, string> = {},
  reader?: (line: string | undefined) => { events: TestEvent[]; text?: string },
) {
  const collector = new Collector(choice.folder, choice.filter !== undefined);
  const lines: string[] = [];
  const events: TestEvent[] = [];
  const ended = await runProcess({
    argv,
    cwd: choice.folder,
    environment: runnerEnvironment(environment),
    marker: choice.folder,
    record: join(root, 'record.json'),
    silenceMs: 120_000,
    signal: new AbortController().signal,
    collector,
    reader,
    onLine: (line) => void lines.push(line),
    onEvent: (event) => void events.push(event),
  });
  return { ended, collector, events, stdout: lines.join('\n') };
}

async function list(runner: Runner, choice: Choice): Promise<string[]> {
  const capture = (argv: string[], environment?: Record<string, string>) =>
    execute(choice, argv, environment);
  return (await ADAPTERS[runner].list!(choice, capture)).sort();
}

const brief = (tests: readonly TestCase[]) =>
  tests.map(({ file, name, status }) => `${status} ${file}: ${name}`).sort();

/** Runs all shards, then the failed tests once more. */
async function check(runner: Runner, folder: string, expected: string[], message: RegExp): Promise<void> {
  assert.deepEqual([...(await detectRunners(folder)).keys()], [runner]);
  const adapter = ADAPTERS[runner];
  const choice: Choice = { folder, runnerArgs: [] };
  const files = adapter.list ? await list(runner, choice) : undefined;
  const shards: Shard[] = files
    ? files.map((file, index) => ({ name: `${index + 1}/${files.length}`, files: [file] }))
    : [{ name: '1/1' }];
  const tests: TestCase[] = [];
  for (const shard of shards) {
    const argv = await adapter.run(choice, shard);
    const { ended, collector } = await execute(choice, argv, adapter.environment, adapter.reader?.(shard));
    assert.equal(
      problemOf(ended, collector, 120, adapter.harmlessExitCodes),
      undefined,
      ended.lastLines.join('\n'),
    );
    assert.deepEqual(collector.running, []);
    if (files) assert.equal(collector.filesDone, 1);
    tests.push(...collector.tests);
  }
  assert.deepEqual(brief(tests), expected.sort());
  const failed = tests.filter(({ status }) => status === 'failed');
  assert.match(failed[0]!.message!, message);

  const again = await adapter.rerun(choice, failed);
  const reader = adapter.reader?.({ name: '1/1' });
  const { ended, collector } = await execute(choice, again, adapter.environment, reader);
  assert.equal(problemOf(ended, collector, 120, adapter.harmlessExitCodes), undefined);
  assert.deepEqual(brief(collector.tests.filter(({ status }) => status === 'failed')), brief(failed));

  // A filter that matches none of the tests.
  const filtered = { ...choice, filter: 'nosuchtest' };
  const argv = await adapter.run(filtered, { ...shards[0]!, name: '1/1' });
  const none = await execute(filtered, argv, adapter.environment, adapter.reader?.({ name: '1/1' }));
  assert.deepEqual(none.collector.tests, []);
  assert.equal(problemOf(none.ended, none.collector, 120, adapter.harmlessExitCodes), undefined);
}

test('the output of a runner that ends at once is kept', async () => {
  // Its start time is asked for while it runs, here for longer than that.
  const folder = await writeSuite(join(root, 'brief'), { ps: '#!/bin/sh\nsleep 1\n' });
  await chmod(join(folder, 'ps'), 0o755);
  const path = process.env['PATH'];
  process.env['PATH'] = `${folder}:${path}`;
  try {
    const { stdout } = await execute({ folder, runnerArgs: [] }, ['echo', 'kept']);
    assert.equal(stdout, 'kept');
  } finally {
    process.env['PATH'] = path;
  }
});

const isThere = (program: string) =>
  run(program, [program === 'go' ? 'version' : '--version']).then(
    () => true,
    () => false,
  );

async function needs(context: TestContext, program: string): Promise<boolean> {
  if (await isThere(program)) return true;
  context.skip(`${program} isn't installed`);
  return false;
}

test('jest', async () => {
  const folder = await copySample('jest', join(root, 'jest'));
  const expected = [
    'passed slug.test.js: slug > joins words',
    'failed slug.test.js: slug > keeps accents readable',
    'skipped slug.test.js: slug > cuts long titles',
    'passed ends.test.js: leaves no hyphen at an end of !Hello',
    'passed ends.test.js: leaves no hyphen at an end of Hello!',
  ];
  await check('jest', folder, expected, /Expected: "cafe"\nReceived: "caf"/);
});

test('vitest', async () => {
  const folder = await copySample('vitest', join(root, 'vitest'));
  const expected = [
    'passed queue.test.js: a queue > gives back what was put first',
    'failed queue.test.js: a queue > is empty once all was taken',
    'passed empty.test.js: an empty queue gives nothing',
    'skipped empty.test.js: a queue can be closed',
  ];
  await check('vitest', folder, expected, /expected 1 to be \+0/);
});

test('jest and vitest: files that can not be loaded, and two tests of one name', async () => {
  const text = (from: string) =>
    `${from}test('same', () => undefined);\ntest('same', () => { throw new Error('no'); });`;
  for (const [runner, from] of [
    ['jest', ''],
    ['vitest', `import { test } from 'vitest';\n`],
  ] as const) {
    const folder = await writeSuite(join(root, `broken-${runner}`), {
      'package.json': JSON.stringify({ devDependencies: { [runner]: '*' } }),
      'same.test.js': text(from),
      'syntax.test.js': `${from}test('never', () => {`,
    });
    const choice: Choice = { folder, runnerArgs: [] };
    const { collector } = await execute(choice, await ADAPTERS[runner].run(choice, { name: '1/1' }));
    assert.deepEqual(brief(collector.tests), [
      'failed same.test.js: same (2)',
      'failed syntax.test.js: (the file)',
      'passed same.test.js: same',
    ]);
  }
});

test('node:test', async () => {
  const folder = await writeSuite(join(root, 'node'), {
    'package.json': '{"type": "module"}',
    'test/deep.js': `
import { test, describe, it } from 'node:test';
test('parent', async (t) => { await t.test('child', () => undefined); await t.test('bad', () => { throw new Error('no'); }); });
describe('suite', () => { it('in it', () => undefined); it.todo('later'); });`,
    'test/exits.js': `import { test } from 'node:test';\ntest('exits', () => process.exit(3));`,
  });
  const expected = [
    'passed test/deep.js: parent > child',
    'failed test/deep.js: parent > bad',
    'passed test/deep.js: suite > in it',
    'skipped test/deep.js: suite > later',
    'failed test/exits.js: (the file)',
  ];
  await check('node', folder, expected, /Error: no/);
});

test('pytest', async (context) => {
  if (!(await needs(context, 'python3'))) return;
  const folder = await copySample('pytest', join(root, 'pytest'));
  await symlink(await pythonEnvironment(), join(folder, '.venv'));
  const expected = [
    'passed test_fixtures.py: TestSum::test_sum',
    'passed test_fixtures.py: TestSum::test_empty',
    'passed test_prices.py: test_rounds[1.004-1.00]',
    'passed test_prices.py: test_rounds[1.006-1.01]',
    'failed test_prices.py: test_rounds[1.005-1.01]',
    'skipped test_prices.py: test_negative',
  ];
  await check('pytest', folder, expected, /assert '1.00' == '1.01'/);

  await writeSuite(folder, { 'test_broken.py': 'import nothing_of_this_name\n' });
  const choice: Choice = { folder, runnerArgs: [] };
  assert.ok((await list('pytest', choice)).includes('test_broken.py'));
  const argv = await ADAPTERS.pytest.run(choice, { name: '1/1', files: ['test_broken.py'] });
  const { ended, collector } = await execute(choice, argv, ADAPTERS.pytest.environment);
  assert.deepEqual(brief(collector.tests), ['failed test_broken.py: (the file)']);
  assert.equal(problemOf(ended, collector, 120), undefined);
});

/** A virtual environment with pytest, kept between runs. */
async function pythonEnvironment(): Promise<string> {
  const folder = join(tmpdir(), 'run-test-suite-pytest');
  if (!existsSync(join(folder, 'bin', 'pytest'))) {
    await run('python3', ['-m', 'venv', folder]);
    await run(join(folder, 'bin', 'python'), ['-m', 'pip', 'install', '-q', 'pytest==9.*']);
  }
  return folder;
}

test('go test', async (context) => {
  if (!(await needs(context, 'go'))) return;
  const folder = await copySample('go', join(root, 'go'));
  const expected = [
    'passed example.com/sample/money: TestFormat/zero',
    'passed example.com/sample/money: TestFormat/cents',
    'passed example.com/sample/money: TestFormat/negative',
    'failed example.com/sample/money: TestFormat/small_negative',
    'passed example.com/sample/stock: TestLeft',
    'passed example.com/sample/stock: TestSoldOut',
    'skipped example.com/sample/stock: TestReservations',
  ];
  await check('go', folder, expected, /got 0.05, want -0.05/);

  await writeSuite(folder, { 'stock/broken_test.go': 'package stock\n\nvar x int = "text"\n' });
  const choice: Choice = { folder, runnerArgs: [] };
  const shard = { name: '1/1', files: ['example.com/sample/stock'] };
  const argv = await ADAPTERS.go.run(choice, shard);
  const { ended, collector } = await execute(choice, argv, {}, ADAPTERS.go.reader!(shard));
  assert.deepEqual(brief(collector.tests), ['failed example.com/sample/stock: (the package)']);
  assert.match(collector.tests[0]!.message!, /cannot use "text"/);
  assert.equal(problemOf(ended, collector, 120), undefined);
});

test('cargo test', async (context) => {
  if (!(await needs(context, 'cargo'))) return;
  const folder = await copySample('cargo', join(root, 'cargo'));
  const expected = [
    'passed src/lib.rs: tests::even',
    'failed src/lib.rs: tests::nothing_is_lost',
    'passed src/lib.rs: tests::nobody',
    'skipped tests/shares.rs: a_million_people',
    'passed tests/shares.rs: one_person_gets_all',
  ];
  await check('cargo', folder, expected, /left: 6\n right: 7/);
});
