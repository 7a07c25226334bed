/** Detects full disks. */
import { statfs } from 'node:fs/promises';

/** Less than this counts as full, in bytes: a database needs some pages to store anything. */
const FULL_BELOW_BYTES = 1024 * 1024;

/** System errors of a write to a full disk, or beyond the user's quota. */
const NO_ROOM_CODES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);

/** Whether the disk that holds a folder is full; false when that can't be determined. */
export async function isDiskFull(folder: string): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize < FULL_BELOW_BYTES;
  } catch {
    return false;
  }
}

/** Whether this error, or one of its causes, is due to a full disk or an exhausted quota. */
export function isDiskFullError(error: unknown): boolean {
  for (let at = error; typeof at === 'object' && at !== null; at = (at as Error).cause)
    if (NO_ROOM_CODES.has((at as NodeJS.ErrnoException).code)) return true;
  return false;
}
