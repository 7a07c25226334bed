/** Copies needed jobs' artifacts from storage to the host. */
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { ArtifactReference } from '../../pipelines/run.js';
import { artifactKey } from '../../platform/storage-keys.js';
import type { Storage } from '../../platform/storage/index.js';
import { makeExecutable, temporaryPath } from '../../platform/atomic-files.js';

/**
 * Writes artifacts into a folder, as `<job>/<path>` or `<job>/<index>/<path>`. Existing files are complete and stay. Files keep
 * the owner's execute permission.
 *
 * @throws LonghaulError `not_found` when one is no longer stored
 */
export async function fetchArtifacts(
  artifacts: readonly ArtifactReference[],
  folder: string,
  storage: Storage,
  signal?: AbortSignal,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const { child, path, name, workflowId, bytes, isExecutable, isFolder } of artifacts) {
    const index = child.index === undefined ? [] : [String(child.index)];
    const target = join(folder, child.job, ...index, path);
    if (!target.startsWith(folder + sep)) throw new Error(`artifact ${name} leaves its folder`);
    if (isFolder) {
      await mkdir(target, { recursive: true });
      continue;
    }
    const there = await stat(target).catch(() => undefined);
    if (there?.size === bytes) continue;
    const unfinished = temporaryPath(folder);
    try {
      const stored = await storage.stream(artifactKey(workflowId, name));
      await pipeline(stored, createWriteStream(unfinished), { ...(signal ? { signal } : {}) });
      if (isExecutable) await makeExecutable(unfinished);
      await mkdir(dirname(target), { recursive: true });
      await rename(unfinished, target);
    } finally {
      await rm(unfinished, { force: true });
    }
  }
}
