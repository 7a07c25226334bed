/** Node in the versions that users run, and one that is too old, from the npm registry, in the user's cache. */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { INSTALL_LIMIT_MS, installOnce } from '../support/install-once.js';

const run = promisify(execFile);
const FILES = ['package.json', 'package-lock.json'].map((name) => resolve('test/node-versions', name));

/** @returns major version -> path of its executable */
export async function installNodeVersions(): Promise<Record<'16' | '22' | '24', string>> {
  const folder = await installOnce('node-versions', FILES, async (folder) => {
    mkdirSync(folder, { recursive: true });
    for (const file of FILES) copyFileSync(file, join(folder, file.slice(file.lastIndexOf('/') + 1)));
    // The binaries come with an install script, whatever the user's npm says of scripts.
    await run('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts=false'], {
      cwd: folder,
      timeout: INSTALL_LIMIT_MS,
    });
  });
  const executable = (name: string) => join(folder, 'node_modules', name, 'bin/node');
  return { '16': executable('node16'), '22': executable('node22'), '24': executable('node24') };
}
