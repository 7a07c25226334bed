/** Python tools for tests: pinned by a requirements.txt, installed once into a virtual environment in the user's cache. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const INSTALL_LIMIT_MS = 480_000;

/**
 * Installs the packages of a requirements file, unless that has been done for its very content. Needs Python 3 with venv.
 *
 * @param name of the environment, e.g. `schemathesis`
 * @param requirements path of the file, every package pinned
 * @returns the environment's folder of executables
 */
export async function installVenv(name: string, requirements: string): Promise<string> {
  const version = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const folder = join(cache, 'longhaul', `${name}-${version}`);
  const bin = join(folder, 'bin');
  // Written last: without it, an installation was interrupted.
  const complete = join(folder, 'complete');
  if (existsSync(complete)) return bin;
  rmSync(folder, { recursive: true, force: true });
  await run('python3', ['-m', 'venv', folder], { timeout: INSTALL_LIMIT_MS });
  const pip = ['install', '--quiet', '--disable-pip-version-check', '-r', requirements];
  await run(join(bin, 'pip'), pip, { timeout: INSTALL_LIMIT_MS, maxBuffer: 64 * 1024 * 1024 });
  writeFileSync(complete, '');
  return bin;
}
