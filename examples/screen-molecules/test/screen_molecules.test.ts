import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { TestToolEnvironment, type OperationHandle } from 'longhaul/testing';
import { writeLibrary } from '../lib/enumerate.js';
import type { Found } from '../lib/summary.js';
import tool from '../tools/screen_molecules.js';

const HISTORY = 'histories/screen_molecules.json';
const QUERY = 'NC(=O)c1ccc(N2CCOCC2)cc1';
const MOLECULES = 3_000;
const TOP = 5;
const LIMIT = { timeoutMs: 180_000 };

let environment: TestToolEnvironment;
let folder: string;
let library: string;
before(async () => {
  mkdirSync('output', { recursive: true });
  folder = mkdtempSync('output/test-');
  library = join(folder, 'library.smi');
  await writeLibrary(library, MOLECULES);
  environment = await TestToolEnvironment.create();
});
/** Counts, best hits and hash of the table by the same code in one process. */
let calm: Found & { sha256: string };
before(async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['lib/alone.js', library, QUERY, `${TOP}`]);
  calm = JSON.parse(stdout);
});
after(async () => {
  await environment?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function fileOf(text: string): Promise<string> {
  const path = join(mkdtempSync(join(folder, 'case-')), 'molecules.smi');
  await writeFile(path, text);
  return path;
}

/** The first chunks have ended, others have not. */
const midway = (operation: OperationHandle<unknown>) =>
  operation.until(({ stage, progress }) => stage === 'screen' && (progress?.progress ?? 0) > 1_000, LIMIT);
const parts = () => {
  const root = join(environment.home, 'screen-molecules');
  return existsSync(root) ? readdirSync(root) : [];
};

test('a kill of the worker changes nothing: the result is that of one process without Temporal', async () => {
  const killed = await environment.start(tool, { path: library, query: QUERY, top: TOP });
  await midway(killed);
  await environment.killWorker();
  const { status, progress } = await killed.describe();
  assert.equal(status, 'working');
  assert.ok(progress!.progress < MOLECULES, `${progress!.progress} lines`);
  await environment.startWorker();
  const { best, table, passed, ...counts } = await killed.result(LIMIT);
  assert.equal(table.sha256, calm.sha256);
  assert.deepEqual(passed, { ...calm.passed, all: calm.passedAll });
  assert.deepEqual([counts.lines, counts.molecules, counts.hits], [MOLECULES, MOLECULES, calm.hits]);
  assert.deepEqual(best, calm.best);
  assert.equal(best[0]!.risks.mutagenic, 'none');
  const text = (await killed.artifact('table.csv')).toString();
  assert.equal(text.split('\n').length, MOLECULES + 2);
  assert.deepEqual(parts(), []);
  if (process.env.RECORD) await killed.saveHistory(HISTORY);
});

test('bad lines are reported by number, in any mix of line ends; the others are screened', async () => {
  const long = 'C'.repeat(5_000);
  const path = await fileOf(
    `\uFEFFsmiles name\r\nCCO ethanol\r\rC1CC open\nc1cccc1\r\n\n  \nCC(=O)Oc1ccccc1C(=O)O\taspirin, "pure"\n${long}\rC(C)(C)(C)(C)C\r\nN#N#N`,
  );
  const operation = await environment.start(tool, { path, query: QUERY, minSimilarity: 0.1, top: 3 });
  const { badLines, best, ...counts } = await operation.result(LIMIT);
  assert.deepEqual([counts.lines, counts.molecules, counts.blankLines], [11, 2, 4]);
  assert.equal(badLines.count, 5);
  assert.deepEqual(
    badLines.first.map(({ line, reason }) => `${line}: ${reason}`),
    [
      '4: unclosed ring',
      "5: Can't kekulize mol.  Unkekulized atoms: 0 1 2 3 4",
      '9: longer than 4096 bytes',
      '10: Explicit valence for atom # 0 C, 5, is greater than permitted',
      '11: Explicit valence for atom # 1 N, 6, is greater than permitted',
    ],
  );
  assert.deepEqual([best[0]!.line, best[0]!.name], [8, 'aspirin "pure"']);
  const table = (await operation.artifact('table.csv')).toString().split('\n');
  assert.match(table[1]!, /^2,ethanol,CCO,46.07,/);
  assert.match(table[2]!, /^8,"aspirin ""pure""",CC\(=O\)Oc1ccccc1C\(=O\)O,180.16,/);
});

test('the result names ten bad lines, the artifact all of them', async () => {
  const lines = Array.from({ length: 1_500 }, (_, index) =>
    index % 2 ? `CCCCC[C@H](O)CCCC${index}(` : 'CCO',
  );
  const operation = await environment.start(tool, { path: await fileOf(lines.join('\r')), query: QUERY });
  const { badLines, molecules } = await operation.result(LIMIT);
  assert.deepEqual([badLines.count, molecules], [750, 750]);
  assert.deepEqual(
    badLines.first.map(({ line }) => line),
    [2, 4, 6, 8, 10, 12, 14, 16, 18, 20],
  );
  const artifact = (await operation.artifact('bad-lines.csv')).toString().trimEnd().split('\n');
  assert.equal(artifact.length, 751);
  assert.match(artifact.at(-1)!, /^1500,/);
});

test('files without molecules, and files elsewhere, are refused', async () => {
  const call = (path: string) => environment.call(tool, { path, query: QUERY }, LIMIT);
  const empty = await fileOf('');
  const blank = await fileOf('\uFEFF\r\n \n');
  const broken = await fileOf('hello\nworld');
  await Promise.all([
    assert.rejects(call('not/there.smi'), { kind: 'failed', type: 'FileMissing' }),
    assert.rejects(call('/etc/hostname'), { kind: 'failed', type: 'FileMissing' }),
    assert.rejects(call('../../../etc/hostname'), { kind: 'failed', type: 'FileMissing' }),
    assert.rejects(call(empty), { kind: 'failed', type: 'NoMolecules', message: /is empty/ }),
    assert.rejects(call(blank), {
      kind: 'failed',
      type: 'NoMolecules',
      message: /0 bad lines, 2 blank ones/,
    }),
    assert.rejects(call(broken), { kind: 'failed', type: 'NoMolecules', message: /2 bad lines.*line 1: / }),
  ]);
});

test('a broken query is refused before the file is read', async () => {
  const operation = await environment.start(tool, { path: 'not/there.smi', query: 'C1CC' });
  await assert.rejects(operation.result(LIMIT), {
    kind: 'failed',
    type: 'BadQuery',
    message: 'query C1CC: unclosed ring',
  });
  await assert.rejects(environment.call(tool, { path: library, query: 'no SMILES' }), {
    kind: 'invalid_arguments',
  });
});

test('a failed run is continued after its finished chunks', async () => {
  const path = join(folder, 'changing.smi');
  await writeLibrary(path, MOLECULES);
  const began = new Date('2026-01-01');
  await utimes(path, began, began);
  const failing = await environment.start(tool, { path, query: QUERY, top: TOP });
  await midway(failing);
  await utimes(path, began, new Date('2026-01-02'));
  await assert.rejects(failing.result(LIMIT), { kind: 'failed', type: 'FileChanged' });
  const { molecules } = (await failing.partial()) as { molecules: number };
  assert.ok(molecules > 0 && molecules < MOLECULES, `${molecules} molecules`);
  const again = { path, query: QUERY, top: TOP, continues: failing.token };
  await assert.rejects(environment.call(tool, again, LIMIT), { type: 'CannotContinue' });
  await utimes(path, began, began);
  await assert.rejects(environment.call(tool, { ...again, query: 'CCO' }, LIMIT), { type: 'CannotContinue' });
  const { chunks, table } = await environment.call(tool, again, LIMIT);
  assert.ok(chunks.takenOver > 0 && chunks.takenOver < chunks.total, JSON.stringify(chunks));
  assert.equal(table.sha256, calm.sha256);
});

test('a cancel ends its threads, which others use then, and leaves no parts, but the partial result', async () => {
  const operation = await environment.start(tool, { path: library, query: QUERY, top: TOP });
  await midway(operation);
  const other = await environment.start(tool, { path: await fileOf('CCO'), query: QUERY });
  await operation.cancel();
  assert.equal((await other.result(LIMIT)).molecules, 1);
  assert.equal((await operation.closed(LIMIT)).status, 'canceled');
  const { best } = (await operation.partial()) as { best: { similarity: number }[] };
  assert.ok(best.length > 0);
  assert.deepEqual(
    parts().filter((name) => name === operation.token),
    [],
  );
});

test('replays the history of an earlier version', () => environment.replay(HISTORY));
