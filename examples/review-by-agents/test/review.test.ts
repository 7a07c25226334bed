/** The tool by itself: real findings, its question, a kill of the worker, bad input, and the kept history. */
import assert from 'node:assert/strict';
import { appendFile, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { TestToolEnvironment } from 'longhaul/testing';
import { commit, git, makeRepository, type Repository } from '../sample/repository.js';
import tool from '../tools/review_diff.js';

const HISTORY = 'histories/review_diff.json';
/** Time limit of waits on a busy machine. */
const PATIENT = { timeoutMs: 240_000 };
const OUTPUT = 'output/test-review';

let environment: TestToolEnvironment;
let repository: Repository;
before(async () => {
  repository = await makeRepository(OUTPUT);
  environment = await TestToolEnvironment.create();
});
after(async () => {
  await environment?.close();
  await rm(OUTPUT, { recursive: true, force: true });
});

const places = (findings: { file: string; line: number; rule: string }[]) =>
  findings.map(({ file, line, rule }) => `${file}:${line} ${rule}`);

test('finds what ESLint, the compiler and the patterns find, each once', async () => {
  const operation = await environment.start(tool, repository);
  const { findings, skipped, files, checked } = await operation.result(PATIENT);
  assert.deepEqual(places(findings), [
    'src/depots.ts:1 untested',
    'src/depots.ts:7 parse',
    'src/invoice.ts:5 TS2554',
    'src/labels.ts:7 untested',
    'src/labels.ts:8 no-debugger',
    'src/rates.ts:19 complexity',
    'src/rates.ts:23 TS6133',
    'src/rates.ts:24 eqeqeq',
    'src/rates.ts:25 ts/no-unused-vars',
    'src/rates.ts:39 unfinished',
    'src/refunds.ts:1 untested',
    'src/refunds.ts:4 secret',
    'src/refunds.ts:4 ts/no-unused-vars',
    'src/refunds.ts:7 ts/no-explicit-any',
    'src/refunds.ts:14 no-fallthrough',
    'src/refunds.ts:16 TS2678',
    'src/store.ts:26 untested',
    'src/store.ts:34 no-empty',
  ]);
  assert.deepEqual(findings.find(({ rule }) => rule === 'parse')?.by, ['lint', 'types']);
  assert.deepEqual(skipped, [{ file: 'logo.png', reason: 'binary' }]);
  assert.deepEqual([files, checked], [8, 7]);
  const { progress } = await operation.describe();
  assert.deepEqual([progress?.progress, progress?.total], [21, 21]);
});

test('asks about a large diff, and checks the largest files when the answer is no', async () => {
  const operation = await environment.start(tool, { ...repository, aspects: ['hygiene'], maxFiles: 2 });
  const { message } = await operation.question();
  assert.equal(message, '7 files are more than 2. Check all, and not only the 2 with most added lines?');
  await operation.answer({ action: 'accept', content: { all: false } });
  const { checked, skipped, findings } = await operation.result();
  assert.equal(checked, 2);
  assert.deepEqual([...new Set(findings.map(({ file }) => file))], ['src/rates.ts', 'src/refunds.ts']);
  assert.equal(skipped.filter(({ reason }) => reason === 'left out').length, 5);
  if (process.env.RECORD) {
    await mkdir('histories', { recursive: true });
    await operation.saveHistory(HISTORY);
  }
});

test('a kill of the worker in the middle changes nothing of the result', async () => {
  const large = await largeChange(60);
  const calm = await environment.call(tool, { ...large, aspects: ['lint'], maxFiles: 500 });
  assert.ok(calm.findings.length > 60);
  const operation = await environment.start(tool, { ...large, aspects: ['lint'], maxFiles: 500 });
  await operation.until(({ progress }) => (progress?.progress ?? 0) >= 8);
  await environment.killWorker();
  const { status, progress } = await operation.describe();
  assert.equal(status, 'working');
  assert.ok(progress!.progress! < 60);
  const partial = (await operation.partial()) as { findings: unknown[] };
  assert.ok(partial.findings.length > 0);
  await environment.startWorker();
  assert.deepEqual(await operation.result(PATIENT), calm);
});

/** A change of many files, as a commit on top of the sample. */
async function largeChange(count: number): Promise<Repository> {
  const { folder } = await makeRepository(join(OUTPUT, 'large'));
  const text = await readFile(join(folder, 'src/rates.ts'), 'utf8');
  for (let index = 0; index < count; index += 1)
    await writeFile(join(folder, 'src', `rates-${String(index).padStart(3, '0')}.ts`), text);
  await commit(folder, 'Rates of every carrier');
  const diff = join(OUTPUT, 'large', 'large.diff');
  await writeFile(diff, await git(folder, 'diff', 'HEAD~1', 'HEAD'));
  return { folder, diff };
}

test('an empty diff has no findings', async () => {
  const result = await environment.call(tool, { ...repository, diff: await diffOf('empty', '') });
  assert.deepEqual(result, { files: 0, checked: 0, skipped: [], findings: [], omitted: 0 });
});

async function diffOf(name: string, text: string): Promise<string> {
  const path = join(OUTPUT, `${name}.diff`);
  await writeFile(path, text);
  return path;
}

test('input that is no diff of this folder fails with its reason', async () => {
  const whole = await readFile(repository.diff, 'utf8');
  const failures: [diff: string, type: string, message: RegExp][] = [
    [await diffOf('prose', 'Looks good to me.\n'), 'BadDiff', /has no file, so it is no unified diff/],
    [await diffOf('cut', whole.slice(0, whole.indexOf('src/store.ts'))), 'BadDiff', /line \d+ of the diff/],
    [
      await diffOf('header', '--- a/src/money.ts\n+++ b/src/money.ts\n@@ nonsense\n+x\n'),
      'BadDiff',
      /line 3 of the diff: no header of a hunk/,
    ],
    [
      await diffOf('other', '--- a/src/money.ts\n+++ b/src/money.ts\n@@ -1 +1 @@\n-x\n+y\n'),
      'DiffDoesNotFit',
      /line 1 of src\/money.ts is not as in the diff/,
    ],
    [
      await diffOf('escape', '--- a/x\n+++ b/../../../package.json\n@@ -1 +1 @@\n-x\n+{\n'),
      'DiffDoesNotFit',
      /is not in the folder/,
    ],
    ['/etc/passwd', 'PathNotAllowed', /outside of the data folders/],
    [`${OUTPUT}/missing.diff`, 'PathUnreadable', /can't be read/],
  ];
  for (const [diff, type, message] of failures)
    await assert.rejects(environment.call(tool, { ...repository, diff }), { type, message });
});

test('a file that is a link out of the folder is not read', async () => {
  const { folder } = await makeRepository(join(OUTPUT, 'link'));
  await symlink('/etc/hostname', join(folder, 'src/link.ts'));
  const diff = await diffOf('link', '--- /dev/null\n+++ b/src/link.ts\n@@ -0,0 +1 @@\n+x\n');
  await assert.rejects(environment.call(tool, { folder, diff }), { type: 'DiffDoesNotFit' });
});

test('names with spaces, quotes and other letters are read as git writes them', async () => {
  const { folder } = await makeRepository(join(OUTPUT, 'names'));
  const names = ['src/Grüße.ts', 'src/two words.ts', 'src/a"quote.ts'];
  for (const name of names) await appendFile(join(folder, name), 'export const a = 1;\ndebugger;\n');
  await commit(folder, 'Names');
  const diff = await diffOf('names', await git(folder, 'diff', 'HEAD~1', 'HEAD'));
  const { findings } = await environment.call(tool, { folder, diff, aspects: ['lint'] });
  assert.deepEqual(new Set(findings.map(({ file }) => file)), new Set(names));
});

test('replays the history of an earlier version', () => environment.replay(HISTORY));
