/** Room on a disk: tells a full one from other reasons why nothing is stored. */
import { statfs } from 'node:fs/promises';

/** Less than this counts as full, in bytes: a database needs some pages to store anything. */
const FULL_BELOW_BYTES = 1024 * 1024;

/** System errors of a write that found no room: on the disk, or within the user's quota of it. */
const NO_ROOM_CODES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);

/** Is the disk that holds a folder full? False when that can't be told. */
export async function isDiskFull(folder: string): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize < FULL_BELOW_BYTES;
  } catch {
    return false;
  }
}

/** Did this error, or one that caused it, come from a full disk or a used-up quota? */
export function isDiskFullError(error: unknown): boolean {
  for (let at = error; typeof at === 'object' && at !== null; at = (at as Error).cause)
    if (NO_ROOM_CODES.has((at as NodeJS.ErrnoException).code)) return true;
  return false;
}
