/** Detects full disks, and measures what lies on them. */
import { lstat, readdir, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { undefinedIfMissing } from './atomic-files.js';

/** A disk with less room counts as full: a database needs some pages to store anything. */
const FULL_BELOW_BYTES = 1024 * 1024;

/** System errors of a full disk or an exhausted quota. */
const NO_ROOM_CODES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);

/** Whether the disk that holds a folder is full; false if unknown. */
export async function isDiskFull(folder: string): Promise<boolean> {
  const found = await statfs(folder).catch(() => undefined);
  return found !== undefined && found.bavail * found.bsize < FULL_BELOW_BYTES;
}

/** Whether this error or one of its causes is a full disk or an exhausted quota. */
export function isDiskFullError(error: unknown): boolean {
  for (let at = error; typeof at === 'object' && at !== null; at = (at as Error).cause)
    if (NO_ROOM_CODES.has((at as NodeJS.ErrnoException).code)) return true;
  return false;
}

/** Files and bytes in a folder, or of one file; zero for a missing path. Doesn't follow links. */
export async function contentSize(path: string): Promise<{ files: number; bytes: number }> {
  const total = { files: 0, bytes: 0 };
  // Files may be removed meanwhile.
  const found = await lstat(path).catch(undefinedIfMissing);
  if (!found) return total;
  if (!found.isDirectory()) return { files: 1, bytes: found.size };
  for (const name of (await readdir(path).catch(undefinedIfMissing)) ?? []) {
    const { files, bytes } = await contentSize(join(path, name));
    total.files += files;
    total.bytes += bytes;
  }
  return total;
}
