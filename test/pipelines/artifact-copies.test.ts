/** Copies of artifacts: sparse files, and cancels. */
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { closeSync, existsSync, ftruncateSync, openSync, readdirSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { saveArtifacts } from '../../activities/pipeline/artifacts.js';
import { masking } from '../../activities/pipeline/mask.js';
import type { ArtifactReference } from '../../pipelines/run.js';
import { artifactKey } from '../../platform/storage-keys.js';
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

function save(signal?: AbortSignal): Promise<ArtifactReference[]> {
  const { home: folder, storage, workflowId } = home;
  const context = { home: folder, storage, workflowId, masking: masking([]), ...(signal ? { signal } : {}) };
  return saveArtifacts({ child: CHILD, patterns: ['disk.img'], secrets: [] }, context);
}

/** A sparse file in the workspace. @param data by its offset */
function sparse(sizeBytes: number, data: Record<number, string> = {}): void {
  const file = openSync(join(home.paths.workspace, 'disk.img'), 'w');
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
    expect(await save()).toMatchObject([{ path: 'disk.img', bytes: GIB }]);
    expect(statSync(join(home.home, 'storage', key())).blocks * 512).toBeLessThan(10 * MIB);
    for (const [at, text] of Object.entries(data)) {
      const range = { from: Number(at), lengthBytes: text.length };
      expect(String(await home.storage.read(key(), range))).toBe(text);
    }
  });

  test('that ends with a hole has its size', async () => {
    sparse(5 * MIB + 3);
    expect(await save()).toMatchObject([{ bytes: 5 * MIB + 3 }]);
    expect(await home.storage.read(key())).toEqual(Buffer.alloc(5 * MIB + 3));
  });

  test('with more than 10 GiB of holes is refused, and nothing of it is copied', async () => {
    sparse(20 * GIB, { 0: 'x'.repeat(MIB) });
    expect(await failureOf(save())).toMatchObject({
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
  const saving = save(cancel.signal).catch((error: unknown) => error);
  await eventually('the file is being copied', () => copies().length > 0);
  cancel.abort(new Error('canceled'));
  expect(await saving).toEqual(new Error('canceled'));
  expect(copies()).toEqual([]);
  expect(await home.storage.size(key())).toBeUndefined();
});
