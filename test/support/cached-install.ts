/** What tests install lies in the user's cache, outside the clone: the first run installs it, later ones find it. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Runs an installation, unless it has completed before for files of the same content.
 *
 * @param name of the folder, e.g. `schemathesis`
 * @param files paths of what pins the installation: requirements or lockfiles
 * @param install installs into the folder, which exists and is empty
 * @returns the folder
 */
export async function installOnce(
  name: string,
  files: string[],
  install: (folder: string) => Promise<void>,
): Promise<string> {
  const digest = createHash('sha256');
  for (const file of files) digest.update(readFileSync(file));
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const folder = join(cache, 'longhaul', `${name}-${digest.digest('hex').slice(0, 12)}`);
  // Written last: without it, an installation was interrupted.
  const complete = join(folder, 'complete');
  if (existsSync(complete)) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await install(folder);
  writeFileSync(complete, '');
  return folder;
}
