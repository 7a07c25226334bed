/** The tool: results, failures before the end, a kill of the worker, a question, a cancel, and calls that have nothing to run. */
import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { TestToolEnvironment } from 'longhaul/testing';
import tool from '../tools/run_test_suite.js';
import {
  copySample,
  eventually,
  gatedSuite,
  LIMIT,
  makeRoot,
  nodeTest,
  processesWith,
  writeSuite,
} from './suites.js';

const HISTORY = 'histories/killed.json';

let environment: TestToolEnvironment;
let root: string;
before(async () => {
  root = await makeRoot();
  environment = await TestToolEnvironment.create({ settings: { dataFolders: [root] } });
});
after(async () => {
  await environment?.close();
  if (root) await rm(root, { recursive: true, force: true });
});

/** Processes of the tests of an operation. */
const processesOf = (token: string) => processesWith(`TEST_RUN_MARKER=${environment.home}/${token}`);

const start = async (folder: string) => {
  const operation = await environment.start(tool, { folder });
  const failing = [{ file: 'test/gate.test.mjs', name: 'fails at once' }];
  await eventually('the failed test can be read', async () => {
    const { failing = [] } = ((await operation.partial()) ?? {}) as { failing?: object[] };
    return failing.length > 0;
  });
  const partial = (await operation.partial()) as { failing: { file: string; name: string }[] };
  assert.deepEqual(
    partial.failing.map(({ file, name }) => ({ file, name })),
    failing,
  );
  if (process.platform === 'linux') assert.notDeepEqual(await processesOf(operation.token), []);
  return operation;
};

test('finds failed, flaky and skipped tests', async () => {
  await copySample('node', join(root, 'shop'));
  // A path within the data folders.
  const operation = await environment.start(tool, { folder: 'shop' });
  const { failures, flakyTests, report, seconds, ...result } = await operation.result(LIMIT);
  assert.deepEqual(result, {
    runner: 'node',
    outcome: 'failed',
    passed: 9,
    failed: 1,
    flaky: 1,
    skipped: 1,
    problems: [],
    notes: [],
    shards: 2,
  });
  assert.deepEqual(
    failures.map(({ file, name }) => [file, name]),
    [['test/cart.test.js', 'total > rounds a discount once']],
  );
  assert.match(failures[0]!.message, /50 !== 45/);
  assert.deepEqual(
    flakyTests.map(({ name, outcomes }) => [name, outcomes]),
    [['there is a rate of the dollar', 'FP']],
  );
  assert.ok(seconds > 0 && report.endsWith('/artifacts/junit.xml'));
  const xml = (await operation.artifact('junit.xml')).toString();
  assert.match(xml, /name="there is a rate of the dollar" time="[\d.]+"><flakyFailure /);
  assert.match(xml, /name="total &gt; rounds a discount once" time="[\d.]+"><failure [^]*<rerunFailure /);
  const lines = await operation.logs();
  assert.ok(lines.some((line) => line.includes('✖ rounds a discount once')));
  assert.deepEqual((await operation.describe()).progress?.total, 3);
});

test('ends as without it after a kill of the worker, whose runners are ended', async () => {
  const folder = await gatedSuite(join(root, 'killed'));
  const operation = await start(folder);
  await environment.killWorker();
  // Before another worker is there.
  await eventually('its processes are gone', async () => (await processesOf(operation.token)).length === 0);
  await writeFile(join(folder, 'gate'), '');
  await environment.startWorker();
  const { seconds: _1, report: _2, ...killed } = await operation.result(LIMIT);
  const { seconds: _3, report: _4, ...calm } = await environment.call(tool, { folder }, LIMIT);
  assert.deepEqual(killed, calm);
  assert.deepEqual([calm.passed, calm.failed, calm.problems], [2, 1, []]);
  if (process.env.RECORD) await operation.saveHistory(HISTORY);
});

test('its kept history replays', () => environment.replay(HISTORY));

test('a cancel ends the processes, and keeps the failed tests', async () => {
  const operation = await start(await gatedSuite(join(root, 'cancelled')));
  await operation.cancel();
  assert.equal((await operation.closed(LIMIT)).status, 'canceled');
  assert.deepEqual(await processesOf(operation.token), []);
  assert.equal(((await operation.partial()) as { failing: object[] }).failing.length, 1);
});

test('asks which of two suites, and finds a flaky test over repeated runs', async () => {
  const folder = await writeSuite(join(root, 'two'), {
    'pytest.ini': '[pytest]\n',
    'test/count.test.mjs': nodeTest(`
test('every other time', () => {
  const runs = existsSync('runs') ? Number(readFileSync('runs')) : 0;
  writeFileSync('runs', String(runs + 1));
  assert.equal(runs % 2, 1);
});`),
  });
  const operation = await environment.start(tool, { folder, repeat: 3, reruns: 0 });
  const { message } = await operation.question(LIMIT);
  assert.equal(message, `${folder} has suites of node, pytest. Which one should be run?`);
  await operation.answer({ action: 'accept', content: { runner: 'node' } });
  const { outcome, flakyTests } = await operation.result(LIMIT);
  assert.deepEqual([outcome, flakyTests[0]?.outcomes], ['flaky', 'FPF']);

  const declined = await environment.start(tool, { folder });
  await declined.question(LIMIT);
  await declined.answer({ action: 'decline' });
  await assert.rejects(declined.result(LIMIT), { kind: 'failed', type: 'NotChosen' });
});

test('says what is missing', async () => {
  const suite = await gatedSuite(join(root, 'some'));
  await mkdir(join(root, 'empty'));
  const failing = (
    args: Parameters<typeof environment.call<typeof tool>>[1],
    type: string,
    message: RegExp,
  ) =>
    assert.rejects(environment.call(tool, args, LIMIT), (error: Error & { type?: string }) => {
      assert.equal(error.type, type);
      assert.match(error.message, message);
      return true;
    });
  await Promise.all([
    failing({ folder: join(root, 'empty') }, 'NoSuite', /has no test suite: expected jest or vitest/),
    failing({ folder: suite, filter: 'no such test' }, 'NoTests', /no test matches "no such test"/),
    failing(
      { folder: join(root, 'not there') },
      'NoFolder',
      /there is no such folder within the data folders/,
    ),
    failing({ folder: '/' }, 'NoFolder', /there is no such folder within the data folders/),
    failing({ folder: suite, runner: 'jest' }, 'RunnerMissing', /jest isn't installed/),
    failing({ folder: join(root, 'empty'), runner: 'node' }, 'NoTests', /node finds no files with tests/),
  ]);
});
