/** Opens a child's workspace: new, or taken over from an earlier operation, with inputs and artifacts. */
import { createWriteStream } from 'node:fs';
import { copyFile, link, mkdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { makeExecutable, temporaryPath, undefinedIfMissing } from '../../platform/home/atomic-files.js';
import type { ArtifactReference, OpenWorkspace } from '../../pipelines/run.js';
import type { Storage } from '../../platform/storage/index.js';
import { artifactKey } from '../../platform/storage/keys.js';
import { readJson, writeJson } from '../../worker/steps/files.js';
import { endRun } from '../../worker/steps/end-steps.js';
import { findAttempts } from '../../worker/steps/journal.js';
import {
  childPaths,
  operationFile,
  operationFolder,
  sharedInputsFile,
  type ChildPaths,
  type OperationFile,
} from '../../worker/steps/layout.js';

export interface WorkspaceContext {
  home: string;
  storage: Storage;
  workflowId: string;
  namespace: string;
  /** Asks the operation for its inputs, if they aren't given. */
  queryInputs: () => Promise<Record<string, unknown>>;
  signal?: AbortSignal;
}

/**
 * Opens a workspace. Another call for the same child changes nothing in it.
 *
 * @returns whether the earlier operation's workspace was taken over
 * @throws LonghaulError `not_found` when an artifact is no longer stored
 */
export async function openWorkspace(
  { child, createdAt, inputs, item, artifacts, takeOverFrom }: OpenWorkspace,
  { home, storage, workflowId, namespace, queryInputs, signal }: WorkspaceContext,
): Promise<boolean> {
  const paths = childPaths(home, workflowId, child);
  const operation = operationFolder(home, workflowId);
  await mkdir(operation, { recursive: true, mode: 0o700 });
  await writeJson(operationFile(operation), { workflowId, namespace } satisfies OperationFile);
  const owner = createdAt === undefined ? workflowId : `${workflowId} ${createdAt}`;
  await removeForeignFolder(paths, workflowId, owner);
  const isTakenOver = takeOverFrom
    ? await takeOver(childPaths(home, takeOverFrom, child), paths, owner)
    : false;
  for (const folder of [paths.workspace, paths.tmp, paths.steps]) await mkdir(folder, { recursive: true });
  await writeJson(paths.owner, owner);
  if (inputs) await writeJson(paths.inputs, inputs);
  else await shareInputs(sharedInputsFile(operation, createdAt), paths.inputs, queryInputs);
  if (item !== undefined) await writeJson(paths.item, item);
  await fetchArtifacts(artifacts, paths.artifacts, storage, signal);
  return isTakenOver;
}

/** Gives a child the operation's inputs. A host keeps one file of them for all children. */
async function shareInputs(
  shared: string,
  path: string,
  query: () => Promise<Record<string, unknown>>,
): Promise<void> {
  if (!(await stat(shared).catch(undefinedIfMissing))) await writeJson(shared, await query());
  await rm(path, { force: true });
  // File systems limit the number of links to a file.
  await link(shared, path).catch(() => copyFile(shared, path));
}

/** Removes the folder of a deleted operation with the same workflow ID, and its journal of finished steps. */
async function removeForeignFolder(paths: ChildPaths, workflowId: string, owner: string): Promise<void> {
  const had = await readJson<string>(paths.owner);
  const isOwn = had === undefined || had === owner || owner === workflowId;
  // A folder that is being taken over still names its previous owner.
  if (isOwn || (await readJson<string>(paths.takenOverBy)) === owner) return;
  for (const attempt of await findAttempts(paths)) await endRun(attempt, 'closed');
  await rm(paths.folder, { recursive: true, force: true });
}

async function takeOver(from: ChildPaths, to: ChildPaths, owner: string): Promise<boolean> {
  // The file moves with the folder, so a repeated call sees that the first one moved it.
  const isMine = async () => (await readJson<string>(to.takenOverBy)) === owner;
  if (await isMine()) return true;
  for (const attempt of await findAttempts(from)) await endRun(attempt, 'closed');
  try {
    await writeJson(from.takenOverBy, owner);
    // The journal is the earlier operation's, and needed jobs may have saved other artifacts.
    for (const stale of [from.steps, from.artifacts]) await rm(stale, { recursive: true, force: true });
    await mkdir(dirname(to.folder), { recursive: true });
    await rename(from.folder, to.folder);
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    return false;
  }
  return true;
}

/**
 * Writes artifacts into a folder, as `<job>/<path>` or `<job>/<index>/<path>`. Existing files are complete and stay. Files keep
 * the owner's execute permission.
 *
 * @throws LonghaulError `not_found` when one is no longer stored
 */
async function fetchArtifacts(
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
      await pipeline(stored, createWriteStream(unfinished), { signal });
      if (isExecutable) await makeExecutable(unfinished);
      await mkdir(dirname(target), { recursive: true });
      await rename(unfinished, target);
    } finally {
      await rm(unfinished, { force: true });
    }
  }
}
