import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { undefinedIfMissing } from './atomic-files.js';

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
