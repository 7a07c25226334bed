/** Detection of edits, with files that change while they are loaded. */
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { watchFiles } from '../../platform/project/watch-files.js';
import { eventually } from '../support/eventually.js';

let folder: string;
let stop: () => void = () => undefined;
const paths = () => readdirSync(folder).map((name) => join(folder, name));
const fileOf = (name: string) => join(folder, name);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-watch-'));
});
afterEach(() => {
  stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Watches the folder; `duringFirstLoad` runs after the first load has listed the files. Returns the names of each load. */
function watch(duringFirstLoad: () => void): string[][] {
  const loads: string[][] = [];
  const reload = () => {
    loads.push(readdirSync(folder).sort());
    if (loads.length === 1) duringFirstLoad();
    return Promise.resolve();
  };
  stop = watchFiles(paths, reload, {
    loadedSinceMs: Date.now(),
    onError: (error) => {
      throw error;
    },
  });
  return loads;
}

/** File systems may have finer times than the clock: the fraction makes this one later than the clock's time. */
function createAtOnce(): void {
  writeFileSync(fileOf('new'), '');
  const seconds = (Date.now() + 0.9) / 1_000;
  utimesSync(fileOf('new'), seconds, seconds);
}

test.each<[string, () => void, string[]]>([
  ['deleted', () => rmSync(fileOf('edited')), ['kept']],
  ['created', () => writeFileSync(fileOf('new'), ''), ['edited', 'kept', 'new']],
  ['created in the millisecond of the look', createAtOnce, ['edited', 'kept', 'new']],
  ['changed', () => writeFileSync(fileOf('kept'), 'again'), ['edited', 'kept']],
])('a file that is %s during a load is loaded again, once', async (_, edit, after) => {
  writeFileSync(fileOf('kept'), '');
  const loads = watch(edit);
  writeFileSync(fileOf('edited'), '');
  await eventually('a second load', () => loads.length === 2);
  expect(loads).toEqual([['edited', 'kept'], after]);
  // A later edit shows that no further load is pending.
  writeFileSync(fileOf('last'), '');
  await eventually('a third load', () => loads.length === 3);
  expect(loads[2]).toEqual([...after, 'last'].sort());
});
