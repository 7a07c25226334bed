/** Tools that tests install, kept in the user's cache between runs and clones. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { takeStackLock } from '../../stack/stack-lock.js';
import { eventually } from './eventually.js';

/** Longest that an installation may take, in milliseconds. */
export const INSTALL_LIMIT_MS = 480_000;

/** The folder for files that outlast a clone: `longhaul` in XDG_CACHE_HOME, by default in `~/.cache`. */
export function cacheFolder(): string {
  return join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'longhaul');
}

/**
 * Installs something unless that has been done for the very content of its inputs. A process that comes while another one installs it waits.
 *
 * @param name e.g. `schemathesis`
 * @param inputs files that decide what is installed
 * @param install fills the folder, which doesn't exist yet
 * @returns the folder
 */
export async function installOnce(
  name: string,
  inputs: string[],
  install: (folder: string) => Promise<void>,
): Promise<string> {
  const hash = createHash('sha256');
  for (const file of inputs) hash.update(readFileSync(file));
  const folder = join(cacheFolder(), `${name}-${hash.digest('hex').slice(0, 12)}`);
  // Written last: without it, an installation was interrupted.
  const complete = join(folder, 'complete');
  if (existsSync(complete)) return folder;
  const release = await eventually(
    `${name} isn't being installed by another process`,
    () => {
      const held = takeStackLock(`${folder}.lock`, 'up');
      return typeof held === 'function' ? held : undefined;
    },
    2 * INSTALL_LIMIT_MS,
  );
  try {
    if (existsSync(complete)) return folder;
    rmSync(folder, { recursive: true, force: true });
    await install(folder);
    writeFileSync(complete, '');
    return folder;
  } finally {
    release();
  }
}
