/** Artifacts of a job: files and patterns, those that can't be saved, copies of sparse files, and cancels. */
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { saveArtifacts, type ArtifactContext } from '../../activities/pipeline/artifacts.js';
import { masking } from '../../worker/steps/output/mask.js';
import type { ArtifactReference, SaveArtifacts } from '../../pipelines/run.js';
import { artifactKey } from '../../platform/storage/keys.js';
import { eventually } from '../stack/cli-process.js';
import { PROCESSES_MS } from '../support/limits.js';
import { CHILD, failureOf, StepHome } from './steps-support.js';

jest.setTimeout(PROCESSES_MS);

/** A file system that makes no clones, where there is one: a copy there takes time. */
const MEMORY = '/dev/shm';
const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

let home: StepHome;
beforeEach(async () => {
  home = await StepHome.open({}, existsSync(MEMORY) ? MEMORY : undefined);
});
afterEach(() => home.remove());

const inWorkspace = (path: string) => join(home.paths.workspace, path);

function write(path: string, text = path): void {
  mkdirSync(dirname(inWorkspace(path)), { recursive: true });
  writeFileSync(inWorkspace(path), text);
}

function shell(script: string): void {
  execFileSync('bash', ['-ec', script], { cwd: home.paths.workspace });
}

function save(
  patterns: string[],
  more: Partial<SaveArtifacts> = {},
  context: Partial<ArtifactContext> = {},
): Promise<ArtifactReference[]> {
  return saveArtifacts(
    { child: CHILD, patterns, secrets: [], ...more },
    {
      home: home.home,
      storage: home.storage,
      workflowId: home.workflowId,
      masking: masking(['top-secret']),
      ...context,
    },
  );
}

/** The saved and unsaved files of a save that fails. */
async function partsOf(saving: Promise<unknown>) {
  const { type, nonRetryable, message, trouble } = await failureOf(saving);
  const { saved, unsaved } = trouble as unknown as { saved: ArtifactReference[]; unsaved: object[] };
  expect(nonRetryable).toBe(true);
  for (const { name, bytes } of saved)
    expect([name, await home.storage.size(artifactKey(home.workflowId, name))]).toEqual([name, bytes]);
  return { type, message, saved: saved.map(({ path }) => path), unsaved };
}

test('files, patterns, and folders with all that is in them are saved; the workspace keeps its own', async () => {
  for (const path of ['report.txt', 'out/a.log', 'out/deep/b.log', 'out/.hidden', 'other.md']) write(path);
  const saved = await save(['report.txt', 'out/', './out/**/*.log']);
  expect(saved.map(({ path }) => path)).toEqual(['out/.hidden', 'out/a.log', 'out/deep/b.log', 'report.txt']);
  const { workflowId } = home;
  const report = { child: CHILD, path: 'report.txt', name: 'build/report.txt', workflowId, bytes: 10 };
  expect(saved.at(-1)).toEqual(report);
  write('report.txt', 'changed afterwards');
  for (const { path, name } of saved)
    expect(String(await home.storage.read(artifactKey(workflowId, name)))).toBe(path);
  expect(await save(['**', '!out/**'])).toHaveLength(2);
});

test('secrets are in no name, and no two files get the same', async () => {
  for (const path of ['of-top-secret-1.txt', 'of-top-secret-1/x', 'top-secret', '***']) write(path);
  const names = (await save(['**'])).map(({ name }) => name).sort();
  expect(names).toEqual(['build/***', 'build/***~2', 'build/of-***-1.txt', 'build/of-***-1/x']);
});

describe('the others are saved beside', () => {
  const FIFO = 'is a FIFO: only files can be saved';
  const BYTES = 'has a name that is not UTF-8: rename it';
  const OUTWARD = 'is a link that leads out of the workspace';

  test.each([
    ['a pattern that finds nothing', ':', 'b/*.txt', 'b/*.txt', 'no file in the workspace matches it'],
    ['a pattern that leads out', ':', '../x', '../x', 'leads out of the workspace'],
    ['a broken link', 'ln -s nowhere out/bad', 'out', 'out/bad', 'is a broken link'],
    ['a link that leads out', 'ln -s /etc/hostname out/bad', 'out', 'out/bad', OUTWARD],
    ['a link in a loop', 'ln -s bad out/bad', 'out', 'out/bad', 'is a link in a loop'],
    ['a FIFO', 'mkfifo out/bad', 'out', 'out/bad', FIFO],
    ['a name of other bytes', `touch out/bad$'\\xff'`, 'out', 'out/bad\ufffd', BYTES],
    [
      'a link to a folder by its name',
      'ln -s out bad',
      'bad',
      'bad',
      'is a link to a folder: name the folder itself',
    ],
  ])('%s', async (_, script, pattern, path, reason) => {
    for (const file of ['a.txt', 'out/b.txt']) write(file);
    shell(script);
    const { saved, unsaved } = await partsOf(save(['a.txt', pattern, 'out/b.txt']));
    expect({ saved, unsaved }).toEqual({ saved: ['a.txt', 'out/b.txt'], unsaved: [{ path, reason }] });
  });

  test('a socket and a device', async () => {
    write('out/b.txt');
    const server = createServer();
    await new Promise<void>((settle) => server.listen(inWorkspace('out/socket'), settle));
    shell('mknod out/device c 1 3');
    const { saved, unsaved } = await partsOf(save(['out']));
    server.close();
    expect(saved).toEqual(['out/b.txt']);
    expect(unsaved).toEqual([
      { path: 'out/device', reason: 'is a device: only files can be saved' },
      { path: 'out/socket', reason: 'is a socket: only files can be saved' },
    ]);
  });

  test('a path that is longer than the system allows', async () => {
    write('out/b.txt');
    const part = 'p'.repeat(200);
    shell(`cd out; for i in {1..22}; do mkdir ${part}; cd ${part}; done; echo x >deep`);
    const { saved, unsaved } = await partsOf(save(['out']));
    expect(saved).toEqual(['out/b.txt']);
    expect(unsaved).toMatchObject([
      { reason: 'has a path that is too long: move it further up in the workspace' },
    ]);
    shell('rm -r out');
  });

  test('a file that vanishes meanwhile', async () => {
    for (const file of ['a', 'b', 'c']) write(file);
    const { storage } = home;
    const vanishing = {
      ...storage,
      putFile: (...given: Parameters<typeof storage.putFile>) => {
        rmSync(inWorkspace('b'), { force: true });
        return storage.putFile(...given);
      },
    };
    expect(await partsOf(save(['*'], {}, { storage: vanishing }))).toMatchObject({
      saved: ['a', 'c'],
      unsaved: [{ path: 'b', reason: 'vanished before it was saved' }],
    });
  });

  test('more files than a job can keep', async () => {
    shell('for i in {1000..2001}; do : >f$i; done');
    const { saved, unsaved } = await partsOf(save(['f*']));
    expect([saved.length, saved[0], saved.at(-1)]).toEqual([1000, 'f1000', 'f1999']);
    expect(unsaved).toEqual([
      {
        path: 'f2000',
        reason: 'is beyond the 1000 files that a job can keep, with 1 after it: pack them into an archive',
      },
    ]);
  });
});

test('a failure names the first ones in one line, and fifty in its details; secrets stay masked', async () => {
  write('a.txt');
  for (let at = 100; at < 160; at += 1) symlinkSync('nowhere', inWorkspace(`link-${at}`));
  symlinkSync('nowhere', inWorkspace('k\nof-top-secret'));
  const { type, message, unsaved } = await partsOf(save(['a.txt', 'link-*', 'k*']));
  expect([type, message]).toEqual([
    'ArtifactRefused',
    'artifact "k\\nof-***" is a broken link; artifact link-100 is a broken link; ' +
      'artifact link-101 is a broken link; and 58 more',
  ]);
  expect([unsaved.length, unsaved.at(-1)]).toEqual([51, { path: '*', reason: 'and 11 more' }]);
});

test('names with line breaks, quotes and backslashes are saved', async () => {
  const names = ['a\nb', 'deep\n/x\ry', 'back\\slash', 'it\'s "quoted"', ' space '];
  for (const name of names) write(`out/${name}`, name);
  const saved = await save(['out']);
  expect(saved.map(({ path }) => path).sort()).toEqual(names.map((name) => `out/${name}`).sort());
  await home.openWorkspace({ artifacts: saved });
  await home.run(`cat "$LONGHAUL_ARTIFACTS/build/out/"$'a\\nb'`);
  expect(home.log()).toBe('a\nb');
});

test('a link to a folder of the workspace is left out beside its files, and one to a file is saved', async () => {
  write('out/real/a.txt');
  symlinkSync('real/a.txt', inWorkspace('out/same'));
  symlinkSync('real', inWorkspace('out/latest'));
  symlinkSync('..', inWorkspace('out/up'));
  expect((await save(['out'])).map(({ path }) => path)).toEqual(['out/real/a.txt', 'out/same']);
});

test('the executable bit and empty folders reach the jobs that need them', async () => {
  write('bin/tool', '#!/bin/sh\necho works\n');
  write('bin/data', 'data');
  shell('chmod 755 bin/tool; mkdir -p out/empty');
  const saved = await save(['bin', 'out']);
  expect(saved.map(({ name, isExecutable, isFolder }) => [name, isExecutable, isFolder])).toEqual([
    ['build/bin/data', undefined, undefined],
    ['build/bin/tool', true, undefined],
    ['build/out/empty/', undefined, true],
  ]);
  await home.openWorkspace({ artifacts: saved });
  // Once more, as after a crash.
  await home.openWorkspace({ artifacts: saved });
  const done = 'test ! -x bin/data; test -d out/empty; ls -A out/empty';
  await home.run(`cd "$LONGHAUL_ARTIFACTS/build"; bin/tool; ${done}`);
  expect(home.log()).toBe('works\n');
  expect(statSync(join(home.paths.artifacts, 'build/bin/tool')).mode & 0o111).not.toBe(0);
});

/** A sparse file in the workspace. @param data by its offset */
function sparse(sizeBytes: number, data: Record<number, string> = {}): void {
  const file = openSync(inWorkspace('disk.img'), 'w');
  for (const [at, text] of Object.entries(data)) writeSync(file, text, Number(at));
  ftruncateSync(file, sizeBytes);
  closeSync(file);
}

const copies = () => readdirSync(home.paths.tmp).filter((name) => name.startsWith('artifact-'));
const key = () => artifactKey(home.workflowId, 'build/disk.img');

describe('a sparse file', () => {
  test('is stored with its holes', async () => {
    const data = { 0: 'first', [300 * MIB + 7]: 'middle', [GIB - 4]: 'last' };
    sparse(GIB, data);
    expect(await save(['disk.img'])).toMatchObject([{ path: 'disk.img', bytes: GIB }]);
    expect(statSync(join(home.home, 'storage', key())).blocks * 512).toBeLessThan(10 * MIB);
    for (const [at, text] of Object.entries(data)) {
      const range = { from: Number(at), lengthBytes: text.length };
      expect(String(await home.storage.read(key(), range))).toBe(text);
    }
  });

  test('with more than 10 GiB of holes is refused, and nothing of it is copied', async () => {
    sparse(20 * GIB, { 0: 'x'.repeat(MIB) });
    expect(await failureOf(save(['disk.img']))).toMatchObject({
      type: 'ArtifactRefused',
      nonRetryable: true,
      message:
        'artifact disk.img is a sparse file of 20.0 GiB, with 0.0 GiB on disk; at most 10 GiB of holes can be kept: compress it',
    });
    expect(copies()).toEqual([]);
    expect(await home.storage.size(key())).toBeUndefined();
  });
});

test('a cancel ends a copy, and leaves nothing of it', async () => {
  sparse(9 * GIB);
  const cancel = new AbortController();
  const saving = save(['disk.img'], {}, { signal: cancel.signal }).catch((error: unknown) => error);
  await eventually('the file is being copied', () => copies().length > 0);
  cancel.abort(new Error('canceled'));
  expect(await saving).toEqual(new Error('canceled'));
  expect(copies()).toEqual([]);
  expect(await home.storage.size(key())).toBeUndefined();
});
