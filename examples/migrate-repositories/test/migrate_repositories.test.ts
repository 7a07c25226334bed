import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { TestToolEnvironment, type OperationHandle } from 'longhaul/testing';
import { makeRepositories, makeRepository } from '../demo/repositories.js';
import type { Row } from '../lib/states.js';
import tool from '../tools/migrate_repositories.js';
import { git, isRunning, snapshot, startedProcess, temporaryFolder, until } from './support.js';

const BRANCH = 'migrate-node-apis';

let environment: TestToolEnvironment;
const folder = temporaryFolder();
/** Has the clones while they are needed. */
const clones = join(folder, 'clones');
/** A home without a git config, as on a fresh machine. */
const home = join(folder, 'home');

before(async () => {
  mkdirSync(home);
  mkdirSync(clones);
  environment = await TestToolEnvironment.create({
    environment: { HOME: home, XDG_CONFIG_HOME: home, MIGRATION_FOLDER: clones },
  });
});
after(async () => {
  await environment?.close();
  rmSync(folder, { recursive: true, force: true });
});

let paths: [orders: string, feeds: string, billing: string];
let cases = 0;
beforeEach(() => {
  paths = makeRepositories(join(folder, `case-${(cases += 1)}`)) as typeof paths;
});

/** Diffs of the first run. */
let calm: string[];
const diffs = (operation: OperationHandle) =>
  Promise.all(
    ['orders-api.diff', 'feed-reader.diff'].map(async (name) => (await operation.artifact(name)).toString()),
  );

/** For a machine that runs other tests too. */
const PATIENCE = { timeoutMs: 240_000 };

const summary = (rows: Row[]) => rows.map(({ name, state, reason }) => [name, state, reason ?? '']);

test('commits what is approved to a branch, and touches nothing else', async () => {
  const [orders] = paths;
  const pristine = paths.map(snapshot);
  const operation = await environment.start(tool, { repositories: paths });
  const question = await operation.question(PATIENCE);
  assert.match(question.message, /^2 of 3 repositories pass their checks with the change/);
  assert.deepEqual(paths.map(snapshot), pristine);
  const partial = (await operation.partial()) as { repositories: Row[] };
  assert.deepEqual(
    partial.repositories.map(({ state }) => state),
    ['ready', 'ready', 'skipped'],
  );
  await operation.answer({ action: 'accept', content: { commit: ['orders-api'] } });
  const { repositories } = await operation.result(PATIENCE);
  assert.deepEqual(summary(repositories), [
    ['orders-api', 'committed', ''],
    ['feed-reader', 'declined', ''],
    ['legacy-billing', 'skipped', '`npm run build` fails with exit code 1 before the change'],
  ]);
  const [committed, declined] = repositories;
  assert.equal(git(orders, 'rev-parse', BRANCH), committed!.commit);
  assert.equal(
    git(orders, 'log', '-1', '--format=%an <%ae> %p', BRANCH),
    `Ada Example <ada@example.com> ${git(orders, 'rev-parse', '--short', 'main')}`,
  );
  calm = await diffs(operation);
  assert.equal(calm[0], `${git(orders, 'diff', 'main', BRANCH)}\n`);
  assert.equal(declined!.note, '1 uncommitted file left alone: HEAD is migrated');
  assert.deepEqual(declined!.left, [
    'src/feed.js:4: url.parse: URL throws on relative addresses and has no auth, path and query',
    'src/feed.js:10: the argument of Buffer may be a number: Buffer.alloc for that, else Buffer.from',
  ]);
  // The branch, in the references and their log, is the only difference.
  git(orders, 'update-ref', '-d', `refs/heads/${BRANCH}`);
  const isFolder = (path: string) => /^\.git(\/logs)?\/refs\/heads$|^\.git$/.test(path);
  const files = (all: Record<string, string>) => Object.entries(all).filter(([path]) => !isFolder(path));
  assert.deepEqual(paths.map(snapshot).map(files), pristine.map(files));
  assert.deepEqual(readdirSync(clones), []);
  if (process.env.RECORD) await operation.saveHistory('histories/committed.json');
});

test('a killed worker takes its commands along, and the next one gets the same result', async () => {
  const [orders, feeds] = paths;
  const gate = join(folder, 'gate');
  // The diff of a killed run is that of the calm one before.
  const checks = ['npm test', `echo $$ > ${folder}/pid; while [ ! -e ${gate} ]; do sleep 0.1; done`];
  const operation = await environment.start(tool, { repositories: [orders, feeds], checks, parallel: 1 });
  const pid = await startedProcess(join(folder, 'pid'));
  await environment.killWorker();
  await until('the command has ended with its worker', () => !isRunning(pid));
  await environment.startWorker();
  writeFileSync(gate, '');
  await operation.question(PATIENCE);
  await operation.answer({ action: 'accept', content: { commit: ['orders-api', 'feed-reader'] } });
  const { repositories } = await operation.result(PATIENCE);
  assert.deepEqual(
    repositories.map(({ state }) => state),
    ['committed', 'committed'],
  );
  assert.deepEqual(await diffs(operation), calm);
  for (const path of [orders, feeds])
    assert.equal(git(path, 'rev-parse', `${BRANCH}^`), git(path, 'rev-parse', 'main'));
});

test('a cancelled run ends its commands, and leaves neither clones nor branches', async () => {
  const pristine = paths.map(snapshot);
  const pidPath = join(folder, 'cancelled');
  const checks = [`echo $$ > ${pidPath}; trap '' TERM; sleep 1000 & wait; sleep 1000`];
  const operation = await environment.start(tool, { repositories: [paths[0]], checks });
  const pid = await startedProcess(pidPath);
  await operation.cancel();
  assert.equal((await operation.closed(PATIENCE)).status, 'canceled');
  assert.equal(isRunning(pid), false);
  assert.deepEqual(readdirSync(clones), []);
  assert.deepEqual(paths.map(snapshot), pristine);
});

test('bad repositories are reported by name, and the good one is migrated', async () => {
  const [orders, feeds] = paths;
  const make = (name: string, script: string, files: Record<string, string> = {}) =>
    makeRepository(join(folder, `bad-${cases}`, name), {
      'package.json': JSON.stringify({ scripts: { test: script } }),
      'a.js': 'module.exports = new Buffer("a");\n',
      ...files,
    });
  const plain = join(folder, `bad-${cases}`, 'plain');
  mkdirSync(plain, { recursive: true });
  const anonymous = make('anonymous', 'true');
  git(anonymous, 'config', '--unset', 'user.name');
  git(feeds, 'branch', BRANCH);
  const breaks = make('breaks', 'grep "new Buffer" a.js');
  const clean = make('clean', 'true', { 'a.js': 'module.exports = 1;\n' });
  const lacking = make('needs-tool', 'frobnicate --all');
  const unchecked = makeRepository(join(folder, `bad-${cases}`, 'unchecked'), { 'a.js': '' });
  const repositories = [
    orders,
    plain,
    join(plain, 'nowhere'),
    join(orders, 'src'),
    `${orders}/`,
    feeds,
    anonymous,
  ];
  const operation = await environment.start(tool, {
    repositories: [...repositories, breaks, clean, lacking, unchecked],
    parallel: 6,
  });
  assert.match((await operation.question(PATIENCE)).message, /^1 of 11 repositories pass/);
  // Meanwhile somebody else takes the name.
  git(orders, 'branch', BRANCH);
  await operation.answer({ action: 'accept', content: { commit: ['orders-api'] } });
  const rows = (await operation.result(PATIENCE)).repositories;
  assert.deepEqual(summary(rows), [
    ['orders-api', 'failed', `a branch ${BRANCH} has been created meanwhile`],
    ['plain', 'skipped', 'not a git repository (or any of the parent directories): .git'],
    ['nowhere', 'skipped', `cannot change to '${plain}/nowhere': No such file or directory`],
    ['src', 'skipped', `a folder inside of the repository ${orders}`],
    ['orders-api-2', 'skipped', 'the same repository as orders-api'],
    ['feed-reader', 'skipped', `it has a branch ${BRANCH} already`],
    ['anonymous', 'skipped', 'git has no author for it: set user.name and user.email, or pass author'],
    ['breaks', 'failed', '`npm run test` fails with exit code 1 after the change'],
    ['clean', 'unchanged', ''],
    ['needs-tool', 'skipped', '`npm run test` needs frobnicate: command not found before the change'],
    ['unchecked', 'skipped', 'no build and no test to check the change with: pass checks'],
  ]);
  assert.equal(git(orders, 'rev-parse', BRANCH), git(orders, 'rev-parse', 'main'));
  assert.match((await operation.artifact('needs-tool-before.log')).toString(), /frobnicate/);
  assert.ok(rows.find(({ name }) => name === 'breaks')!.diff);
  assert.ok(!existsSync(join(breaks, '.git/refs/heads', BRANCH)));
});

test('a command that hangs is ended at its limit', async () => {
  const args = { repositories: [paths[0]], checks: ['sleep 1000'], commandSeconds: 1 };
  const { repositories } = await environment.call(tool, args, PATIENCE);
  assert.deepEqual(summary(repositories), [
    ['orders-api', 'skipped', '`sleep 1000` took longer than 1 s before the change'],
  ]);
});

test('replays the history of an earlier run', () => environment.replay('histories/committed.json'));
