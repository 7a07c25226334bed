/** Suites that hang, crash, leave processes behind, contradict their exit code, or print without an end of line. */
import assert from 'node:assert/strict';
import { rm, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { TestToolEnvironment } from 'longhaul/testing';
import tool from '../tools/run_test_suite.js';
import { LIMIT, makeRoot, nodeTest, processesWith, writeSuite } from './suites.js';

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

async function run(name: string, lines: string, args: { silenceSeconds?: number } = {}) {
  return runFolder(await writeSuite(join(root, name), { 'test/bad.test.mjs': nodeTest(lines) }), args);
}

async function runFolder(folder: string, args: { silenceSeconds?: number } = {}) {
  const operation = await environment.start(tool, { folder, ...args });
  const result = await operation.result(LIMIT);
  assert.deepEqual(await processesWith(`TEST_RUN_MARKER=${environment.home}/${operation.token}`), []);
  return { result, problem: result.problems[0], log: await operation.logs() };
}

test('a suite that hangs is ended, with the tests that had begun', async () => {
  const lines = `
test('passes', () => undefined);
test('hangs', () => new Promise(() => setInterval(() => undefined, 1000)));`;
  const { result, problem } = await run('hangs', lines, { silenceSeconds: 5 });
  assert.equal(result.outcome, 'failed');
  assert.equal(problem?.kind, 'hung');
  assert.match(problem.message, /no output for 5 s: it was ended; 1 tests had ended/);
  assert.deepEqual(problem.running, ['test/bad.test.mjs > hangs']);
  assert.equal(result.passed, 1);
});

test('a runner that is killed counts as crashed', async () => {
  const lines = `
test('passes', () => undefined);
test('kills', async () => { await sleep(500); process.kill(process.ppid, 'SIGKILL'); await sleep(60_000); });`;
  const { result, problem } = await run('crashes', lines);
  assert.equal(result.outcome, 'failed');
  assert.equal(problem?.kind, 'crashed');
  assert.match(problem.message, /was ended by SIGKILL before its tests were through; 1 tests had ended/);
  assert.deepEqual(problem.running, ['test/bad.test.mjs > kills']);
});

test('processes that outlive the runner are ended', async () => {
  const lines = `
test('forks', () => spawn('sleep', ['600'], { detached: true, stdio: 'ignore' }).unref());`;
  const { result } = await run('forks', lines);
  assert.deepEqual(
    [result.outcome, result.notes],
    ['passed', ['shard 1/1: 1 processes outlived the runner and were ended']],
  );
});

test('an exit code that no test explains fails the suite', async () => {
  const folder = await writeSuite(join(root, 'exits'), {
    'package.json': JSON.stringify({ jest: { globalTeardown: './teardown.js' } }),
    'teardown.js': `module.exports = () => { throw new Error('the database is still in use'); };`,
    'passes.test.js': `test('passes', () => undefined);`,
  });
  await symlink(resolve('node_modules'), join(folder, 'node_modules'));
  const { result, problem } = await runFolder(folder);
  assert.deepEqual([result.outcome, result.passed, result.failed], ['failed', 1, 0]);
  assert.equal(problem?.kind, 'exit_code');
  assert.equal(problem.message, 'the runner ended with exit code 1 though no test failed');
  assert.match(problem.lastLines.join('\n'), /the database is still in use/);
});

test('megabytes without an end of line are cut', async () => {
  const lines = `
test('prints', async () => {
  for (let at = 0; at < 80; at += 1) await new Promise((done) => process.stdout.write('x'.repeat(65536), done));
  process.stdout.write('\\n');
});`;
  const { result, log } = await run('prints', lines);
  assert.deepEqual([result.outcome, result.passed, result.problems], ['passed', 1, []]);
  assert.ok(Math.max(...log.map(({ length }) => length)) < 10_000);
});
