/** The kept histories of all tags replay with the code of today: under `longhaul up`, open operations follow new releases. */
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { PROCESSES_MS } from '../support/limits.js';
import { isRecording, keptHistories, PROJECT } from './kept.js';

jest.setTimeout(PROCESSES_MS);

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
  const replaying = await built('cli/replay/replays.js');
  ({ linesOf } = replaying);
  replays = await replaying.Replays.start(await loadSettings({ project: PROJECT }), PROCESSES_MS / 2_000);
});
afterAll(() => replays?.close());

// While they are recorded, there may be none yet.
(isRecording ? describe.skip : describe)('the code of today', () => {
  test('has histories to be checked with', () => expect(kept).not.toEqual(new Map()));

  test.each(Object.entries(ofTypes()))('fits every end of %s', async (_, ends) => {
    for (const [name, path] of ends) {
      const report = await replays.ofFile(path);
      const found = report.verdict === 'fits' ? 'fits' : linesOf(report).join('\n');
      expect([name, found]).toEqual([name, 'fits']);
    }
  });
});
