import { stat } from 'node:fs/promises';
import { ApplicationFailure } from '@temporalio/common';
import { hasMoreZeros } from '../../platform/copy-file.js';

/** Maximum size of the holes in an artifact, in GiB: a store, and everyone who reads the artifact, gets zeros for them. */
const MAX_HOLES_GIB = 10;

const GIB = 1024 ** 3;

/** Failure type of files that can't be artifacts. */
export const ARTIFACT_REFUSED = 'ArtifactRefused';

/**
 * Refuses a sparse file with more than 10 GiB of holes.
 *
 * @param name of the artifact, for the message
 * @throws ApplicationFailure `ArtifactRefused`, non-retryable; the signal's reason
 */
export async function refuseHoles(path: string, name: string, signal?: AbortSignal): Promise<void> {
  const { size, blocks } = await stat(path);
  const usedBytes = blocks * 512;
  if (size - usedBytes <= MAX_HOLES_GIB * GIB) return;
  // A file that its file system compresses has few blocks too.
  if (!(await hasMoreZeros(path, MAX_HOLES_GIB * GIB, signal))) return;
  const gib = (bytes: number) => (bytes / GIB).toFixed(1);
  throw ApplicationFailure.nonRetryable(
    `artifact ${name} is a sparse file of ${gib(size)} GiB, with ${gib(usedBytes)} GiB on disk; at most ${MAX_HOLES_GIB} GiB ` +
      'of holes can be kept: compress it',
    ARTIFACT_REFUSED,
  );
}
