/** Without a language model: on Longhaul's own documents, and on folders as bad as they come. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { TestToolEnvironment } from 'longhaul/testing';
import tool from '../tools/research_topic.js';
import { Folders, INVOICES } from './folders.js';
import { assertCitationsExist } from './sources.js';

const HISTORY = 'histories/extracted.json';
const DOCS = 'node_modules/longhaul/docs';
const TOPIC = 'What happens to running work when a worker is killed?';

interface QuestionSchema {
  properties: { questions: { items: { enum: string[] } } };
}

/** For busy machines: each takes a few seconds on an idle one. */
const LIMIT = { timeoutMs: 240_000 };

let environment: TestToolEnvironment;
let folders: Folders;
before(async () => {
  folders = await Folders.create();
  environment = await TestToolEnvironment.create({
    settings: { dataFolders: [DOCS, folders.root] },
    environment: { RESEARCH_MODEL_URL: '' },
  });
});
after(() => environment?.close());

test('researches real documents, asks, is read in the middle, and survives a kill of the worker', async () => {
  const args = { topic: TOPIC, researchers: 3 };
  const calm = await environment.call(tool, args, LIMIT);
  const operation = await environment.start(tool, { ...args, ask: true });
  const question = await operation.question(LIMIT);
  const { questions } = (question.schema as unknown as QuestionSchema).properties;
  assert.ok(questions.items.enum.length > 0);
  const partial = (await operation.partial()) as { rounds: number; report: string };
  assert.equal(partial.rounds, 1);
  assert.match(partial.report, /^# What happens .*\n\n> Extracted without a language model/);
  assert.deepEqual((await operation.describe()).progress, { progress: 3, total: 3 });
  await environment.killWorker();
  await environment.startWorker();
  await operation.answer({ action: 'accept', content: { questions: questions.items.enum } });
  const result = await operation.result(LIMIT);
  assert.deepEqual({ ...result, file: '' }, { ...calm, file: '' });
  assert.equal(result.model, null);
  assert.ok(result.statements >= 10, `${result.statements} statements`);
  await assertCitationsExist(DOCS, result.report, result.citations);
  assert.equal((await operation.artifact('report.md')).toString(), result.report);
  if (process.env.RECORD) await operation.saveHistory(HISTORY);
});

test('continues with all questions when nobody answers, and with none when somebody declines', async () => {
  const late = await environment.start(tool, { topic: TOPIC, ask: true, askSeconds: 1 });
  assert.equal((await late.result(LIMIT)).rounds, 2);
  assert.deepEqual(
    (await late.describe()).answers.map(({ isDefault }) => isDefault),
    [true],
  );
  const operation = await environment.start(tool, { topic: TOPIC, ask: true });
  await operation.question(LIMIT);
  await operation.answer({ action: 'decline' });
  const { rounds, report } = await operation.result(LIMIT);
  assert.equal(rounds, 1);
  assert.match(report, /## Left open/);
});

test('reports a contradiction with both sides', async () => {
  const folder = await folders.add('invoices', INVOICES);
  const args = { topic: 'How long are invoices kept?', folder, researchers: 1 };
  const result = await environment.call(tool, args, LIMIT);
  assert.equal(result.contradictions, 1);
  assert.match(
    result.report,
    /contradict each other\n\n- 6 or 10: handbook\/office\.md \[\d\] against retention\.md \[\d\]/,
  );
  assert.match(result.report, /kept for 10 years/);
  assert.match(result.report, /kept for 6 years/);
  // The second round follows the link of a cited line.
  assert.match(result.report, /2 rounds, 2 questions[^]*- Backups \(backup\.md\)/);
  await assertCitationsExist(folder, result.report, result.citations);
});

test('leaves out statements that are gone from their document by the end', async () => {
  const folder = await folders.add('edited', INVOICES);
  const args = { topic: 'How long are invoices kept?', folder, researchers: 1, ask: true };
  const operation = await environment.start(tool, args);
  await operation.question(LIMIT);
  await writeFile(join(folder, 'retention.md'), '# Retention\n\nThis document was withdrawn.\n');
  await operation.answer({ action: 'decline' });
  const { report, dropped, contradictions } = await operation.result(LIMIT);
  assert.deepEqual([dropped, contradictions], [1, 0]);
  assert.match(report, /Note: 1 statement was left out/);
  assert.doesNotMatch(report, /10 years/);
});

test('lists documents that cannot be read, and follows no link', async () => {
  const folder = await folders.add('mixed', {
    ...INVOICES,
    'binary.md': Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2]),
    'empty.md': ' \n',
    'latin1.txt': Buffer.from('Rechnungen f\xfcr das Gesch\xe4ftsjahr', 'latin1'),
    'utf16.txt': Buffer.from('\ufeffInvoices are kept.', 'utf16le'),
    'photo.png': 'not a document',
  });
  const secret = join(
    await folders.add('elsewhere', { 'secret.md': 'Invoices are kept in the red folder.\n' }),
    '..',
  );
  await folders.link(folder, 'outside', join(secret, 'elsewhere'));
  await folders.link(folder, 'passwd.md', '/etc/passwd');
  await folders.link(folder, 'twice.md', join(folder, 'backup.md'));
  const { skipped, documents, report } = await environment.call(tool, {
    topic: 'Where are invoices kept?',
    folder,
  });
  assert.equal(documents, 3);
  assert.deepEqual(Object.fromEntries(skipped.map(({ document, reason }) => [document, reason])), {
    'binary.md': 'binary',
    'empty.md': 'empty',
    'latin1.txt': 'not UTF-8',
    'utf16.txt': 'UTF-16, not UTF-8',
    outside: 'a link that leaves the folder',
    'passwd.md': 'a link that leaves the folder',
    'twice.md': 'a link within the folder',
  });
  assert.match(report, /3 documents read, 7 skipped/);
  assert.doesNotMatch(report, /red folder|root:/);
});

test('refuses folders that are missing, empty or elsewhere', async () => {
  const empty = await folders.add('nothing', { 'photo.png': 'x' });
  const failing = (folder: string) => environment.call(tool, { topic: TOPIC, folder }, LIMIT);
  await assert.rejects(failing(join(folders.root, 'missing')), { kind: 'failed', type: 'FolderMissing' });
  await assert.rejects(failing(empty), { kind: 'failed', type: 'NoDocuments' });
  for (const folder of ['/etc', '../..', join(folders.root, '..')])
    await assert.rejects(failing(folder), { kind: 'failed', type: 'FolderNotAllowed' });
  await folders.link(folders.root, 'etc', '/etc');
  await assert.rejects(failing(join(folders.root, 'etc')), { kind: 'failed', type: 'FolderNotAllowed' });
});

test('replays the history of an earlier version', async () => {
  const { events } = JSON.parse(await readFile(HISTORY, 'utf8')) as { events: unknown[] };
  assert.ok(events.length > 50);
  await environment.replay(HISTORY);
});
