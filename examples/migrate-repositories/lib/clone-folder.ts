import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Folder of a clone. Outside of this project, whose packages a repository's commands would find otherwise.
 *
 * @param id workflow ID of the repository's part
 */
export function cloneFolder(id: string): string {
  const base = process.env.MIGRATION_FOLDER ?? join(tmpdir(), 'longhaul-migrations');
  return join(base, id.replace(/[^\w.-]/g, '-'));
}

export async function removeFolder(path: string): Promise<void> {
  // Processes that were killed may still be closing files.
  await rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
