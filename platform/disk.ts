/** Detects full disks. */
import { statfs } from 'node:fs/promises';

/** A disk with less room counts as full: a database needs some pages to store anything. */
const FULL_BELOW_BYTES = 1024 * 1024;

/** System errors of a full disk or an exhausted quota. */
const NO_ROOM_CODES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);

/** Whether the disk that holds a folder is full; false if unknown. */
export async function isDiskFull(folder: string): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize < FULL_BELOW_BYTES;
  } catch {
    return false;
  }
}

/** Whether this error or one of its causes is a full disk or an exhausted quota. */
export function isDiskFullError(error: unknown): boolean {
  for (let at = error; typeof at === 'object' && at !== null; at = (at as Error).cause)
    if (NO_ROOM_CODES.has((at as NodeJS.ErrnoException).code)) return true;
  return false;
}
