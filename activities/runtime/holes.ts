import { stat } from 'node:fs/promises';
import { hasMoreZeros } from '../../platform/home/copy-file.js';

/** Maximum size of the holes in an artifact, in GiB: the store and every reader get zeros for them. */
const MAX_HOLES_GIB = 10;

const GIB = 1024 ** 3;

/** Failure type of files that can't be artifacts. */
export const ARTIFACT_REFUSED = 'ArtifactRefused';

/** Why a sparse file can't be an artifact: more than 10 GiB of holes. @throws the signal's reason, or a system error */
export async function holesProblem(path: string, signal?: AbortSignal): Promise<string | undefined> {
  const { size, blocks } = await stat(path);
  const usedBytes = blocks * 512;
  if (size - usedBytes <= MAX_HOLES_GIB * GIB) return undefined;
  // A file that its file system compresses has few blocks too.
  if (!(await hasMoreZeros(path, MAX_HOLES_GIB * GIB, signal))) return undefined;
  const gib = (bytes: number) => (bytes / GIB).toFixed(1);
  return (
    `is a sparse file of ${gib(size)} GiB, with ${gib(usedBytes)} GiB on disk; at most ${MAX_HOLES_GIB} GiB ` +
    'of holes can be kept: compress it'
  );
}
