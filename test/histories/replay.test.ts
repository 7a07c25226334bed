/**
 * The kept histories of all tags replay with the code of today. Workflows that move to a new build while they are open must fit
 * always; the others end on the build that they have begun on, so that a difference is allowed where known-differences.json gives
 * its reason.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { PROCESSES_MS } from '../support/limits.js';
import { isRecording, keptHistories, PROJECT } from './kept.js';

jest.setTimeout(PROCESSES_MS);

/** Types of workflows that are open for longer than a build is deployed. */
const ALWAYS_OPEN = /^(mailbox_|longhaul_queue$)/;
const KNOWN = JSON.parse(readFileSync('test/histories/known-differences.json', 'utf8')) as Record<string, string>;
const kept = keptHistories();

/** `TAG/TYPE` -> names and paths of its histories. */
function ofTypes(): Record<string, [string, string][]> {
  const types: Record<string, [string, string][]> = {};
  for (const [name, path] of kept) (types[name.slice(0, name.lastIndexOf('/'))] ??= []).push([name, path]);
  return types;
}

let replays: { ofFile(path: string): Promise<{ verdict: string }>; close(): Promise<void> };
let linesOf: (report: object) => string[];
beforeAll(async () => {
  const built = (name: string) => import(resolve('dist', name));
  const { loadSettings } = await built('platform/settings/index.js');
  const { Replays } = await built('cli/replay/replays.js');
  ({ linesOf } = await built('cli/replay/report.js'));
  replays = await Replays.start(await loadSettings({ project: PROJECT }), PROCESSES_MS / 2_000);
});
afterAll(() => replays?.close());

// While they are recorded, there may be none yet.
(isRecording ? describe.skip : describe)('the code of today', () => {
  test('has histories to be checked with', () => expect(kept).not.toEqual(new Map()));

  test.each(Object.entries(ofTypes()))('fits every end of %s, or the difference is known', async (_, ends) => {
    for (const [name, path] of ends) {
      const report = await replays.ofFile(path);
      const found = report.verdict === 'fits' ? 'fits' : linesOf(report).join('\n');
      if (!KNOWN[name]) expect([name, found]).toEqual([name, 'fits']);
      // A difference that is gone is no longer listed.
      else expect([name, found]).not.toEqual([name, 'fits']);
    }
  });

  test('differs from no workflow that is always open, and lists no history that is not there', () => {
    const names = Object.keys(KNOWN);
    expect(names.filter((name) => ALWAYS_OPEN.test(name.split('/')[1]!))).toEqual([]);
    expect(names.filter((name) => !kept.has(name))).toEqual([]);
  });
});
