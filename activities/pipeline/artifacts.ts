/** Stores files of a workspace as artifacts. */
import { randomUUID } from 'node:crypto';
import { lstat, mkdir, realpath, rm, stat } from 'node:fs/promises';
import { isAbsolute, join, sep } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import { glob } from 'tinyglobby';
import { childName, type ArtifactReference, type SaveArtifacts } from '../../pipelines/run.js';
import { copyFile } from '../../platform/copy-file.js';
import { LINKS_AS_FILES } from '../../platform/glob-links.js';
import { artifactKey } from '../../platform/storage-keys.js';
import type { Storage } from '../../platform/storage/index.js';
import { ARTIFACT_REFUSED, refuseHoles } from '../runtime/holes.js';
import { ARTIFACT_MISSING } from './failures.js';
import { childPaths } from './layout.js';
import type { Masking } from './mask.js';

/** Maximum number of files of one job; more are better kept as one archive. */
const MAX_FILES = 1_000;

export interface ArtifactContext {
  home: string;
  storage: Storage;
  workflowId: string;
  masking: Masking;
  signal?: AbortSignal;
}

/**
 * Stores copies of the files that match the patterns. Replaces artifacts of the same name. Leaves no unfinished copy.
 *
 * @throws the signal's reason, once nothing is copied any more
 * @throws ApplicationFailure `ArtifactMissing` for a pattern that finds nothing, `ArtifactRefused` for files
 * that can't be stored; both non-retryable
 */
export async function saveArtifacts(
  { child, patterns, isOptional }: SaveArtifacts,
  { home, storage, workflowId, masking, signal }: ArtifactContext,
): Promise<ArtifactReference[]> {
  const { workspace, tmp } = childPaths(home, workflowId, child);
  const files = await find(workspace, patterns, isOptional ?? false, masking);
  const saved: ArtifactReference[] = [];
  const names = new Set<string>();
  await mkdir(tmp, { recursive: true });
  for (const file of files) {
    signal?.throwIfAborted();
    const path = unused(masking.text(file), names);
    const name = `${childName(child)}/${path}`;
    const copy = join(tmp, `artifact-${randomUUID()}`);
    try {
      await refuseHoles(join(workspace, file), path, signal);
      await copyFile(join(workspace, file), copy, signal);
      const { size } = await stat(copy);
      await storage.putFile(artifactKey(workflowId, name), copy, signal);
      saved.push({ child, path, name, workflowId, bytes: size });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENAMETOOLONG')
        throw refused(`the path of artifact ${path} is too long; move it further up in the workspace`);
      throw error;
    } finally {
      await rm(copy, { force: true });
    }
  }
  return saved;
}

/** Makes a name unique: two may be the same once secrets are masked. */
function unused(path: string, names: Set<string>): string {
  let name = path;
  for (let count = 2; names.has(name); count += 1) name = `${path}~${count}`;
  names.add(name);
  return name;
}

/** Paths in the workspace, with `/`, in order. */
async function find(
  workspace: string,
  patterns: readonly string[],
  isOptional: boolean,
  masking: Masking,
): Promise<string[]> {
  const root = await realpath(workspace);
  const ignore = patterns.filter((pattern) => pattern.startsWith('!')).map((pattern) => pattern.slice(1));
  const files = new Set<string>();
  for (const pattern of patterns.filter((each) => !each.startsWith('!'))) {
    if (isAbsolute(pattern) || pattern.split('/').includes('..'))
      throw refused(`artifact pattern "${pattern}" leads out of the workspace`);
    const found = await glob(pattern.replace(/^(\.\/)+/, '') || '.', {
      cwd: root,
      ignore,
      dot: true,
      fs: LINKS_AS_FILES,
      expandDirectories: true,
    });
    const kept = [];
    for (const path of found) if (await isInside(root, path, masking)) kept.push(path);
    if (kept.length === 0 && !isOptional) throw missing(pattern);
    for (const path of kept) files.add(path);
  }
  if (files.size > MAX_FILES)
    throw refused(
      `${files.size} files are more than the ${MAX_FILES} that a job can keep: pack them into an archive`,
    );
  return [...files].sort();
}

/** Whether the path is a file in the workspace. Links to folders are left out; one that leads outside is refused. */
async function isInside(root: string, path: string, masking: Masking): Promise<boolean> {
  const full = join(root, path);
  const real = await realpath(full).catch(() => undefined);
  const name = masking.text(path);
  if (real === undefined) {
    if ((await lstat(full).catch(() => undefined))?.isSymbolicLink())
      throw refused(`artifact ${name} is a broken link`);
    return false;
  }
  if (!real.startsWith(root + sep))
    throw refused(`artifact ${name} is a link that leads out of the workspace`);
  return (await stat(real)).isFile();
}

function missing(pattern: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(
    `no file in the workspace matches the artifact pattern "${pattern}"`,
    ARTIFACT_MISSING,
  );
}

function refused(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, ARTIFACT_REFUSED);
}
