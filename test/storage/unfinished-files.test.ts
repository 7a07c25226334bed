import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { folderStorage } from '../../platform/storage/index.js';
import { temporaryPath } from '../../platform/home/atomic-files.js';
import { ABANDONED_AFTER_MS, planTemporarySweep, sweep } from '../../platform/storage/sweep-plan.js';
import { temporaryFolder } from '../support/for-all-tests.js';

function write(path: string, ageMs: number): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, 'half');
  const changed = new Date(Date.now() - ageMs);
  utimesSync(path, changed, changed);
  return path;
}

function folder(path: string, ageMs: number): string {
  write(join(path, 'spilled'), ageMs);
  const changed = new Date(Date.now() - ageMs);
  utimesSync(path, changed, changed);
  return path;
}

test('files that killed processes left unfinished are removed after a day; all else stays', async () => {
  const home = temporaryFolder('unfinished');
  const old = 2 * ABANDONED_AFTER_MS;
  const left = [
    write(temporaryPath(join(home, 'storage/payloads/w/abc')), old),
    write(temporaryPath(join(home, 'running-steps/1.json')), old),
    write(temporaryPath(join(home, 'cache/bundle.js')), old),
    folder(temporaryPath(join(home, 'tmp/dataset')), old),
  ];
  const kept = [
    write(temporaryPath(join(home, 'storage/artifacts/w/being-written.csv')), 0),
    write(join(home, 'storage/artifacts/w/named.tmp'), old),
    write(temporaryPath(join(home, 'workspaces/w/work/data')), old),
  ];
  expect(await sweep(planTemporarySweep(home))).toHaveLength(left.length);
  expect(left.filter((path) => existsSync(path))).toEqual([]);
  expect(kept.filter((path) => !existsSync(path))).toEqual([]);

  const keys: string[] = [];
  for await (const { key } of folderStorage(join(home, 'storage')).list()) keys.push(key);
  expect(keys).toEqual(['artifacts/w/named.tmp']);
});
