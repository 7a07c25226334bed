/** Steps on a full disk, whose workspaces are on a disk of a few MiB. Needs root, for a tmpfs. */
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { saveArtifacts } from '../../activities/pipeline/artifacts.js';
import { masking } from '../../worker/steps/output/mask.js';
import { readCursor, writeCursor } from '../../worker/steps/output/spool.js';
import { eventually, readText } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { CHILD, StepHome } from './steps-support.js';

jest.setTimeout(PROCESSES_MS);
/** On another disk: the steps' notes for the test. */
let notes: string;
let disk: string;
let home: StepHome;

beforeEach(async () => {
  notes = mkdtempSync(join(tmpdir(), 'longhaul-notes-'));
  disk = mkdtempSync(join(tmpdir(), 'longhaul-disk-'));
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=12m', 'tmpfs', disk]);
  if (status !== 0) throw new Error(`a disk of its own is needed: ${String(stderr)}`);
  home = await StepHome.open({}, disk);
});
afterEach(async () => {
  const records = home.runningFiles();
  const left = await home.remove();
  spawnSync('umount', ['-l', disk]);
  for (const folder of [notes, disk]) rmSync(folder, { recursive: true, force: true });
  expect(left).toEqual([]);
  expect(records).toEqual([]);
});

const note = (name: string) => readText(join(notes, name));

function fillDisk(): void {
  const file = openSync(join(disk, 'filler'), 'w');
  try {
    for (;;) writeSync(file, Buffer.alloc(4_096));
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
  } finally {
    closeSync(file);
  }
}

const emptyDisk = () => rmSync(join(disk, 'filler'));

test('a cursor that finds no room leaves no unfinished file', async () => {
  const cursor = { file: 0, offset: 0, covered: 0, logBytes: 0 };
  await writeCursor(disk, cursor);
  fillDisk();
  await expect(writeCursor(disk, { ...cursor, offset: 1 })).rejects.toMatchObject({ code: 'ENOSPC' });
  expect(readdirSync(disk).filter((name) => name.startsWith('cursor'))).toEqual(['cursor.json']);
  emptyDisk();
  expect(await readCursor(disk)).toEqual(cursor);
});

test('an artifact that finds no room leaves no unfinished copy, nor does one from another disk', async () => {
  await home.run('head -c 8M /dev/urandom >large');
  const { storage, workflowId } = home;
  const saving = saveArtifacts(
    { child: CHILD, patterns: ['large'], secrets: [] },
    { home: home.home, storage, workflowId, masking: masking([]) },
  );
  await expect(saving).rejects.toMatchObject({ code: 'ENOSPC' });
  expect(readdirSync(home.paths.tmp)).toEqual([]);
  const elsewhere = join(notes, 'large');
  spawnSync('cp', [join(home.paths.workspace, 'large'), elsewhere]);
  await expect(storage.putFile('artifacts/o/large', elsewhere)).rejects.toMatchObject({ code: 'ENOSPC' });
  expect(readdirSync(join(home.home, 'storage', 'artifacts', 'o'))).toEqual([]);
  expect(readdirSync(notes)).toEqual(['large']);
});

test('a step that prints waits for room, and its log has everything', async () => {
  const script = `
    echo x >${notes}/ready; until [ -e ${notes}/go ]; do sleep 0.05; done
    for ((i = 1; i <= 400000; i++)); do echo "line $i"; done`;
  const done = home.run(script);
  await eventually('it runs', () => note('ready'));
  fillDisk();
  spawnSync('touch', [join(notes, 'go')]);
  await eventually('it waits', () => home.lines.includes('waiting for room: the disk is full'));
  emptyDisk();
  expect(await done).toEqual({ exitCode: 0, outputs: {} });
  expect(home.log()).toBe(Array.from({ length: 400_000 }, (_, at) => `line ${at + 1}\n`).join(''));
});

test('the end of a step is recorded, also for another worker', async () => {
  const stop = new AbortController();
  const script = `echo x >${notes}/ready; until [ -e ${notes}/go ]; do sleep 0.05; done; exit 7`;
  const first = home.failed(script, {}, { stop: stop.signal });
  await eventually('it runs', () => note('ready'));
  fillDisk();
  stop.abort('shutdown');
  expect((await first).name).toBe('CompleteAsyncError');
  await home.steps.leave();
  spawnSync('touch', [join(notes, 'go')]);
  await eventually('it has ended', async () => (await home.leftovers()).length === 0);
  await home.adopt({ steps: home.hostSteps() });
  expect(home.outcomes).toMatchObject([{ type: 'StepFailed', trouble: { exitCode: 7 } }]);
});

test('a cancel ends a step', async () => {
  const stop = new AbortController();
  const running = home.failed(`echo x >${notes}/ready; sleep 600`, {}, { stop: stop.signal });
  await eventually('it runs', () => note('ready'));
  fillDisk();
  stop.abort('canceled');
  expect((await running).name).toBe('CancelledFailure');
});
