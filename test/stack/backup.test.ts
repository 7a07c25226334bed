/** `longhaul backup` of a home whose stack works, and `longhaul restore` of it elsewhere; what neither of them takes. */
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { create } from 'tar';
import { ChunkedLog } from '../../platform/storage/chunked-log.js';
import { folderStorage } from '../../platform/storage/index.js';
import { stepLogPrefix } from '../../platform/storage/keys.js';
import { linkTree } from '../../stack/backup/copy-tree.js';
import { linesOf, textOf, writePipelines } from '../pipelines/support.js';
import { STACK_MS } from '../support/limits.js';
import { WireClient } from '../support/mcp.js';
import { logText } from '../support/stored-log.js';
import { FIXTURES } from '../support/test-stack.js';
import { eventually, TestHome } from './cli-process.js';

jest.setTimeout(STACK_MS);

const PIPELINE = `
inputs: { properties: { ledger: { type: string } }, required: [ledger] }
outputs:
  made: work.made
jobs:
  work:
    artifacts: [report.txt]
    outputs: [made]
    steps:
      - name: first
        run: |
          echo first >> "$INPUT_LEDGER"
          echo "from the first step" > report.txt
          ln -s /bin/sh shell
      - name: second
        idempotent: true
        run: |
          echo second >> "$INPUT_LEDGER"
          until [ -e "$INPUT_LEDGER.go" ]; do sleep 0.1; done
      - name: third
        run: echo "made=$(cat report.txt) with $(readlink shell)" >> "$LONGHAUL_OUTPUT"
`;
const RESULT_BYTES = 600_000;

const folder = mkdtempSync(join(tmpdir(), 'longhaul-backup-'));
const archive = join(folder, 'home.tar.gz');
const ledger = join(folder, 'ledger');
const environment = { LONGHAUL_PROJECT: FIXTURES, LONGHAUL_PIPELINE_FOLDERS: folder };
let original: TestHome;
let restored: TestHome;
beforeAll(async () => {
  writePipelines(folder, { works: PIPELINE });
  original = await TestHome.create();
  restored = await TestHome.create();
});
afterAll(async () => {
  await Promise.all([original?.remove(), restored?.remove()]);
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a command to its end. @returns exit code and what it said */
async function ended(home: TestHome, ...args: string[]): Promise<[number | string, string]> {
  const run = home.run(args);
  return [await run.ended, run.stdout() + run.stderr()];
}

async function fails(home: TestHome, words: string[], message: string): Promise<void> {
  expect(await ended(home, ...words)).toEqual([1, expect.stringContaining(message)]);
}

const filesIn = (path: string): string[] =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(path, join(entry.parentPath, entry.name)));

test('open operations of a stack that works are finished in a home restored elsewhere', async () => {
  const stack = await original.up(environment);
  const before = new WireClient(`${original.url}/mcp`);
  const done = await before.start('large_values', { resultBytes: RESULT_BYTES });
  await before.until(done, 'completed');
  const asking = await before.start('confirm_delete', { filename: 'old.txt' });
  await before.until(asking, 'input_required');
  const working = await before.start('works', { ledger });
  await eventually('the second step runs', () => linesOf(ledger).includes('second'));

  expect(await ended(original, 'backup', archive)).toEqual([0, expect.stringContaining('keep it private')]);
  expect(statSync(archive).mode & 0o777).toBe(0o600);
  expect(readdirSync(original.path).filter((name) => name.startsWith('backup'))).toEqual([]);
  // Closed operations may be deleted after the backup; the stack has not noticed it.
  await before.request('tools/call', { name: 'operation_delete', arguments: { token: done } });
  expect(stack.process.exitCode).toBeNull();
  expect(await ended(original, 'down')).toEqual([0, expect.stringContaining('Ended the stack')]);

  expect(await ended(restored, 'restore', archive)).toEqual([0, expect.stringContaining('files, as of')]);
  expect(statSync(restored.path).mode & 0o777).toBe(0o700);
  expect(statSync(join(restored.path, 'secret')).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(restored.path, 'secret'))).toEqual(readFileSync(join(original.path, 'secret')));
  await restored.up(environment);
  const after = new WireClient(`${restored.url}/mcp`);
  const { result: large } = await after.get(done);
  expect(large.structuredContent.text).toBe('r'.repeat(RESULT_BYTES));
  const { inputRequests } = await after.until(asking, 'input_required');
  const [key] = Object.keys(inputRequests);
  const inputResponses = { [key!]: { action: 'accept', content: { confirm: true } } };
  await after.request('tasks/update', { taskId: asking, inputResponses });
  const { result: deleted } = await after.until(asking, 'completed');
  expect(deleted.structuredContent.deleted).toEqual(['old.txt']);
  await eventually(
    'the second step runs again',
    () => linesOf(ledger).filter((one) => one === 'second').length > 1,
  );
  writeFileSync(`${ledger}.go`, '');
  const { result } = await after.until(working, 'completed');
  expect([result.isError, textOf(result)]).toEqual([
    undefined,
    expect.stringContaining('from the first step'),
  ]);
  expect(result.structuredContent.made).toBe('from the first step with /bin/sh');
  expect(linesOf(ledger)).toEqual(['first', 'second', 'second']);
});

describe('a backup', () => {
  test('has all of a log that grows, and whose chunks are merged, while it is made', async () => {
    const home = mkdtempSync(join(folder, 'growing-'));
    const prefix = stepLogPrefix('an operation', 'build', 1);
    const log = new ChunkedLog(folderStorage(join(home, 'from')), prefix);
    let text = '';
    let lines = 0;
    let isOver = false;
    const growing = (async () => {
      while (!isOver) {
        const line = `line ${lines + 1}\n`;
        await log.appendAt(text.length, Buffer.from(line));
        text += line;
        lines += 1;
      }
    })();
    try {
      for (let copy = 1; lines < 1_000; copy += 1) {
        const stored = text.length;
        const to = join(home, `to-${copy}`);
        await linkTree(join(home, 'from'), to);
        const copied = await logText(folderStorage(to), prefix);
        expect(copied.length).toBeGreaterThanOrEqual(stored);
        expect(`${text}line ${lines + 1}\n`.startsWith(copied)).toBe(true);
      }
    } finally {
      isOver = true;
      await growing;
    }
  });

  test('may be a folder, from which the same home is made', async () => {
    const [target, home] = [join(folder, 'as-folder'), join(folder, 'made/of/folder')];
    const [code, output] = await ended(original, 'backup', target, '--json');
    expect([code, JSON.parse(output.split('\n')[0]!)]).toEqual([
      0,
      expect.objectContaining({
        format: 1,
        home: original.path,
        hasSecret: true,
        temporal: expect.any(String),
      }),
    ]);
    expect(await ended(restored, 'restore', target, '--home', home)).toEqual([0, expect.any(String)]);
    const isKept = (path: string) => !/^(logs|temporal\.db-|stack\.)/.test(path);
    expect(filesIn(home).sort()).toEqual(filesIn(original.path).filter(isKept).sort());
    for (const path of filesIn(join(home, 'storage')))
      expect(readFileSync(join(home, 'storage', path))).toEqual(
        readFileSync(join(original.path, 'storage', path)),
      );
  });

  test('is not made over another file, in its own home, or of nothing', async () => {
    await fails(original, ['backup', archive], `${archive}: expected a new name; got one that exists`);
    await fails(original, ['backup', join(original.path, 'x.tar.gz')], 'expected a place outside the home');
    await fails(
      original,
      ['backup', join(folder, 'x.tgz'), '--home', join(folder, 'none')],
      'got nothing to back up',
    );
  });

  test('on a full disk leaves no file', async () => {
    const disk = join(folder, 'disk');
    mkdirSync(disk);
    expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk]).status).toBe(0);
    try {
      await fails(original, ['backup', join(disk, 'x.tar.gz')], 'is full: there is no backup');
      expect(readdirSync(disk)).toEqual([]);
      await fails(original, ['restore', archive, '--home', join(disk, 'home')], 'is full');
      expect(readdirSync(disk)).toEqual([]);
    } finally {
      spawnSync('umount', ['-l', disk]);
    }
  });
});

describe('a restore', () => {
  const home = join(folder, 'home');
  const refused = async (source: string, message: string) => {
    await fails(original, ['restore', source, '--home', home], message);
    expect(readdirSync(folder).filter((name) => name.startsWith('home') && name !== 'home.tar.gz')).toEqual(
      [],
    );
  };

  test('of a truncated, incomplete, newer or other file changes nothing', async () => {
    const cut = join(folder, 'cut.tar.gz');
    copyFileSync(archive, cut);
    truncateSync(cut, Math.floor(statSync(cut).size / 2));
    await refused(cut, 'cut.tar.gz: expected a whole backup made by longhaul backup');
    writeFileSync(join(folder, 'text.tar.gz'), 'no archive');
    await refused(join(folder, 'text.tar.gz'), 'expected a whole backup made by longhaul backup');
    await refused(join(folder, 'missing'), 'missing: expected a backup; there is no such file or folder');
    await refused(FIXTURES, "expected a backup made by longhaul backup; its backup.json can't be read");

    const other = join(folder, 'other');
    mkdirSync(join(other, 'home'), { recursive: true });
    writeFileSync(join(other, 'home/secret'), 'x');
    const manifest = { format: 1, longhaul: '0.1.0', files: 2, bytes: 2 };
    writeFileSync(join(other, 'backup.json'), JSON.stringify(manifest));
    await refused(other, "expected 2 files with 2 bytes; got 1 with 1: it isn't complete");
    writeFileSync(join(other, 'backup.json'), JSON.stringify({ ...manifest, format: 2, longhaul: '9.0.0' }));
    await refused(other, 'expected a backup of format 1 or lower; got format 2, made by Longhaul 9.0.0');
  });

  test('of an archive whose entries lead out of it writes nothing there', async () => {
    const evil = join(folder, 'evil');
    const outside = join(folder, 'outside');
    mkdirSync(join(evil, 'home'), { recursive: true });
    mkdirSync(outside);
    symlinkSync(outside, join(evil, 'home/link'));
    mkdirSync(join(evil, 'real'));
    writeFileSync(join(evil, 'real/file'), 'x');
    const path = join(folder, 'evil.tar.gz');
    const onWriteEntry = (entry: { path: string }) => {
      entry.path = entry.path.replace(/^real\/?/, 'home/link/');
    };
    create({ sync: true, gzip: true, file: path, cwd: evil, onWriteEntry }, ['home', 'real/file']);
    await refused(path, 'the entry "home/link/file" is outside of it');
    expect(readdirSync(outside)).toEqual([]);
  });

  test('refuses a home that has something, unless it is forced, and one with a running stack', async () => {
    mkdirSync(join(home, 'bin'), { recursive: true });
    writeFileSync(join(home, 'bin/temporal'), 'binary');
    writeFileSync(join(home, 'mine'), 'x');
    await fails(
      original,
      ['restore', archive, '--home', home],
      'expected an empty or missing folder; got one with mine',
    );
    expect(readFileSync(join(home, 'mine'), 'utf8')).toBe('x');
    expect(await ended(original, 'restore', archive, '--home', home, '--force')).toEqual([
      0,
      expect.stringMatching(/The home that was there is now \S+home\.before-restore-\d{14}\./),
    ]);
    expect(existsSync(join(home, 'mine'))).toBe(false);
    expect(readFileSync(join(home, 'bin/temporal'), 'utf8')).toBe('binary');
    const [before] = readdirSync(folder).filter((name) => name.startsWith('home.before-restore-'));
    expect(readFileSync(join(folder, before!, 'mine'), 'utf8')).toBe('x');
    await fails(restored, ['restore', archive, '--force'], 'a stack is running on');
  });
});
