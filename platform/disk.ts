/** Room on a disk: what tells a full one from other reasons why nothing is stored. */
import { statfs } from 'node:fs/promises';

/** Less than this counts as full, in bytes: a database needs some pages to store anything. */
const FULL_BELOW_BYTES = 1024 * 1024;

/** Is the disk that holds a folder full? False when that can't be told. */
export async function isDiskFull(folder: string): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize < FULL_BELOW_BYTES;
  } catch {
    return false;
  }
}
