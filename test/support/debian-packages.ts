/** Packages of Debian for tests, unpacked into the user's cache: without root, and without installing them. */
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { INSTALL_LIMIT_MS, installOnce } from './install-once.js';

const run = promisify(execFile);

/**
 * Downloads packages and unpacks them. Needs apt-get with package lists (`apt-get update`).
 *
 * @param name of the folder in the cache
 * @param list path of a file that names the packages, one on each line: nothing that they depend on is added
 * @returns the folder that stands for `/`
 */
export async function unpackDebianPackages(name: string, list: string): Promise<string> {
  return installOnce(name, [list], async (target) => {
    mkdirSync(target, { recursive: true });
    const packages = readFileSync(list, 'utf8').trim().split('\n');
    const limits = { cwd: target, timeout: INSTALL_LIMIT_MS };
    await run('apt-get', ['download', ...packages], limits);
    for (const file of readdirSync(target).filter((entry) => entry.endsWith('.deb')))
      await run('dpkg', ['-x', file, target], limits);
  });
}
