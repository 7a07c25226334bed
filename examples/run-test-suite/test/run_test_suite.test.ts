/** The samples as suites: calmly, with a kill of the worker, and calls that have nothing to run. */
import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { TestToolEnvironment } from 'longhaul/testing';
import tool from '../tools/run_test_suite.js';

/** For busy machines: a call takes some seconds on an idle one. */
const LIMIT = { timeoutMs: 240_000 };
const HISTORY = 'histories/killed.json';

let environment: TestToolEnvironment;
let root: string;
before(async () => {
  root = await mkdtemp(join(tmpdir(), 'run-test-suite-'));
  environment = await TestToolEnvironment.create({ settings: { dataFolders: [root] } });
});
after(async () => {
  await environment?.close();
  await rm(root, { recursive: true, force: true });
});

/** A copy of a sample, in which nothing has run. */
async function suite(sample: string, name: string): Promise<string> {
  const folder = join(root, name);
  const isSource = (path: string) => !/\/(\.cache|node_modules)$/.test(path);
  await cp(join('samples', sample), folder, { recursive: true, filter: isSource });
  return folder;
}

test('finds failed, flaky and skipped tests, the same with a kill of the worker in the middle', async () => {
  const calm = await environment.call(tool, { folder: await suite('node', 'calm') }, LIMIT);
  assert.deepEqual(
    [calm.runner, calm.outcome, calm.passed, calm.failed, calm.flaky, calm.skipped],
    ['node', 'failed', 9, 1, 1, 1],
  );
  assert.equal(calm.failures[0]!.name, 'total > rounds a discount once');
  assert.deepEqual(calm.problems, []);

  const operation = await environment.start(tool, { folder: await suite('node', 'killed') });
  await operation.until(({ stage }) => stage?.startsWith('run') ?? false, LIMIT);
  await environment.killWorker();
  await environment.startWorker();
  const result = await operation.result(LIMIT);
  assert.deepEqual(
    [result.failures.map(({ name }) => name), result.passed + result.flaky, result.skipped],
    [calm.failures.map(({ name }) => name), calm.passed + calm.flaky, calm.skipped],
  );
  assert.match((await operation.artifact('junit.xml')).toString(), /<testsuites[^]*rounds a discount once/);
  if (process.env.RECORD) await operation.saveHistory(HISTORY);
});

test('its kept history replays', () => environment.replay(HISTORY));

test('a folder without a suite, and a filter that matches nothing, are named', async () => {
  await mkdir(join(root, 'empty'));
  await assert.rejects(environment.call(tool, { folder: join(root, 'empty') }, LIMIT), /empty/);
  const folder = await suite('node', 'filtered');
  await assert.rejects(
    environment.call(tool, { folder, filter: 'no such test' }, LIMIT),
    /no test matches "no such test"/,
  );
});
