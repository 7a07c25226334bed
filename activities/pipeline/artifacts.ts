/** Stores files of a workspace as artifacts. */
import { randomUUID } from 'node:crypto';
import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import type { UnsavedArtifact } from '../../operations/record.js';
import {
  childName,
  type ArtifactReference,
  type SaveArtifacts,
  type UnsavedDetails,
} from '../../pipelines/run.js';
import { escapeJson } from '../../platform/observe/control-characters.js';
import { copyFile } from '../../platform/home/copy-file.js';
import { artifactKey } from '../../platform/storage/keys.js';
import { isStorageWait, type Storage } from '../../platform/storage/index.js';
import { ARTIFACT_REFUSED, holesProblem } from '../runtime/holes.js';
import { ARTIFACT_MISSING } from '../../worker/steps/failures.js';
import { findArtifacts, NO_MATCH, OUTSIDE, reasonOf, type FoundArtifact } from './find-artifacts.js';
import { childPaths } from '../../worker/steps/layout.js';
import type { Masking } from '../../worker/steps/output/mask.js';

const MAX_NAMED = 50;
const MAX_IN_MESSAGE = 3;

export interface ArtifactContext {
  home: string;
  storage: Storage;
  workflowId: string;
  masking: Masking;
  signal?: AbortSignal;
}

/**
 * Stores copies of the files that match the patterns, and names the ones that can't be stored. Replaces artifacts of the same
 * name. Leaves no unfinished copy.
 *
 * @throws the signal's reason, once copying has stopped
 * @throws ApplicationFailure `ArtifactMissing` if patterns find nothing, `ArtifactRefused` if files can't be stored; both
 *   non-retryable, with {@link UnsavedDetails}, once all others are stored
 */
export async function saveArtifacts(
  { child, patterns }: SaveArtifacts,
  { home, storage, workflowId, masking, signal }: ArtifactContext,
): Promise<ArtifactReference[]> {
  const { workspace, tmp } = childPaths(home, workflowId, child);
  const { found, unsaved } = await findArtifacts(workspace, patterns);
  const saved: ArtifactReference[] = [];
  const names = new Set<string>();
  await mkdir(tmp, { recursive: true });
  for (const one of found) {
    signal?.throwIfAborted();
    const path = unused(masking.text(one.path), names);
    const name = `${childName(child)}/${path}${one.isFolder ? '/' : ''}`;
    const stored = await store(one, artifactKey(workflowId, name), { storage, tmp, signal });
    if ('reason' in stored) unsaved.push({ path: one.path, ...stored });
    else saved.push({ child, path, name, workflowId, ...stored });
  }
  if (unsaved.length === 0) return saved;
  throw failureOf(
    saved,
    unsaved.map(({ path, reason }) => ({ path: masking.text(path), reason })),
  );
}

type Stored = Pick<ArtifactReference, 'bytes' | 'isExecutable' | 'isFolder'>;

/** @returns why it can't be stored, if only the file itself is the cause */
async function store(
  { realPath, isFolder }: FoundArtifact,
  key: string,
  { storage, tmp, signal }: { storage: Storage; tmp: string; signal: AbortSignal | undefined },
): Promise<Stored | { reason: string }> {
  if (isFolder) {
    await storage.put(key, new Uint8Array());
    return { bytes: 0, isFolder: true };
  }
  const copy = join(tmp, `artifact-${randomUUID()}`);
  try {
    let isExecutable: boolean;
    try {
      const reason = await holesProblem(realPath, signal);
      if (reason !== undefined) return { reason };
      isExecutable = ((await stat(realPath)).mode & 0o100) !== 0;
      await copyFile(realPath, copy, signal);
    } catch (error) {
      const reason = reasonOf(error);
      if (reason === undefined || isStorageWait(error) || signal?.aborted) throw error;
      return { reason };
    }
    const { size } = await stat(copy);
    await storage.putFile(key, copy, signal);
    return { bytes: size, ...(isExecutable ? { isExecutable } : {}) };
  } finally {
    await rm(copy, { force: true });
  }
}

/** Makes a name unique: masking secrets may make two names equal. */
function unused(path: string, names: Set<string>): string {
  let name = path;
  for (let count = 2; names.has(name); count += 1) name = `${path}~${count}`;
  names.add(name);
  return name;
}

function failureOf(saved: ArtifactReference[], unsaved: UnsavedArtifact[]): ApplicationFailure {
  const lines = unsaved.slice(0, MAX_IN_MESSAGE).map(lineOf);
  if (unsaved.length > MAX_IN_MESSAGE) lines.push(`and ${unsaved.length - MAX_IN_MESSAGE} more`);
  const isMissing = unsaved.every(({ reason }) => reason === NO_MATCH);
  const named = unsaved.slice(0, MAX_NAMED);
  if (unsaved.length > MAX_NAMED) named.push({ path: '*', reason: `and ${unsaved.length - MAX_NAMED} more` });
  return ApplicationFailure.nonRetryable(lines.join('; '), isMissing ? ARTIFACT_MISSING : ARTIFACT_REFUSED, {
    saved,
    unsaved: named,
  } satisfies UnsavedDetails);
}

function lineOf({ path, reason }: UnsavedArtifact): string {
  if (reason === NO_MATCH) return `no file in the workspace matches the artifact pattern "${path}"`;
  if (reason === OUTSIDE) return `artifact pattern "${path}" ${reason}`;
  // A name may have line breaks, but the failure's message is one line.
  const shown = JSON.stringify(path) === `"${path}"` ? path : escapeJson(JSON.stringify(path));
  return `artifact ${shown} ${reason}`;
}
