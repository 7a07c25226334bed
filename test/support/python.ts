/** Python tools for tests: pinned by a requirements.txt, each set in a virtual environment in the user's cache. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { INSTALL_LIMIT_MS, installOnce } from './install-once.js';

const run = promisify(execFile);

/**
 * Installs the packages of a requirements file, unless that has been done for its very content. Needs Python 3 with venv.
 *
 * @param name of the environment, e.g. `schemathesis`
 * @param requirements path of the file, which pins every package, also those that others need
 * @returns the environment's folder of executables
 */
export async function installVenv(name: string, requirements: string): Promise<string> {
  const folder = await installOnce(name, [requirements], async (venv) => {
    await run('python3', ['-m', 'venv', venv], { timeout: INSTALL_LIMIT_MS });
    const limits = { timeout: INSTALL_LIMIT_MS, maxBuffer: 64 * 1024 * 1024 };
    // The file names every package, so nothing is resolved; modules are compiled as they are first imported.
    const options = ['--quiet', '--disable-pip-version-check', '--no-deps', '--no-compile'];
    await run(join(venv, 'bin/pip'), ['install', ...options, '-r', requirements], limits);
    await run(join(venv, 'bin/pip'), ['check'], limits);
  });
  return join(folder, 'bin');
}
