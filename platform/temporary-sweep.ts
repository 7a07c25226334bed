/** Removes temporary files that killed processes left in a home. */
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isTemporaryPath } from './atomic-files.js';
import { contentSize } from './disk.js';
import { sweep, type SweepItem } from './sweep-plan.js';

/** A temporary file counts as abandoned after a day without a write. */
export const ABANDONED_AFTER_MS = 24 * 3600_000;

/** Plans the sweep. Skips workspaces, where steps have files of any name: each workspace is removed as a whole. */
export async function* planTemporarySweep(home: string, now = Date.now()): AsyncGenerator<SweepItem> {
  // Loaded on demand, which makes workers start faster.
  const { glob } = await import('tinyglobby');
  const paths = await glob('**/*.tmp', {
    cwd: home,
    // A killed backup leaves a folder.
    onlyFiles: false,
    expandDirectories: false,
    dot: true,
    ignore: ['workspaces/**'],
    followSymbolicLinks: false,
  });
  for (const path of paths.filter(isTemporaryPath).map((found) => join(home, found))) {
    const file = await stat(path).catch(() => undefined);
    if (!file || now - file.mtimeMs <= ABANDONED_AFTER_MS) continue;
    yield {
      kind: 'temporary',
      name: path,
      reason: 'a process that was killed has left it unfinished',
      keys: [path],
      bytes: async () => (await contentSize(path)).bytes,
      remove: () => rm(path, { recursive: true, force: true }),
    };
  }
}

/** Sweeps a home. @returns the number of removed files */
export async function removeTemporaryFiles(home: string, now = Date.now()): Promise<number> {
  return (await sweep(planTemporarySweep(home, now))).length;
}
