/** npm packages as they are published, which the examples' results are checked against. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fromNpm } from './registry.js';

const folders: string[] = [];

/** Removes what was unpacked. */
export function removePackages(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
}

/** The registry's own metadata of a version, and its file. */
export async function published(
  name: string,
  version: string,
): Promise<{ license: string; integrity: string; file: Buffer }> {
  const { body } = await fromNpm(`/${name}/${version}`);
  const { license, dist } = JSON.parse(body.toString()) as {
    license: string;
    dist: { tarball: string; integrity: string };
  };
  const { body: file } = await fromNpm(new URL(dist.tarball).pathname);
  return { license, integrity: dist.integrity, file };
}

/** The files of a package, in a folder that is removed at the end. */
function unpack(tarball: Buffer): string {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-package-'));
  folders.push(folder);
  execFileSync('tar', ['-xzf', '-', '-C', folder], { input: tarball });
  return join(folder, 'package');
}

/** Size of a package's files once it is unpacked. */
export function unpackedBytes(tarball: Buffer): number {
  return readdirSync(unpack(tarball), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

/** How many tests in those files of a package's test folder pass here, run without Longhaul. */
export async function passedHere(tarball: Buffer, files: RegExp, registry: string): Promise<number> {
  const cwd = unpack(tarball);
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], NPM_CONFIG_REGISTRY: registry };
  await promisify(execFile)('npm', ['install', '--ignore-scripts', '--omit=dev'], { cwd, env });
  const names = readdirSync(join(cwd, 'test')).filter((name) => files.test(name));
  const paths = names.map((name) => join('test', name));
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--test', '--test-reporter=tap', ...paths],
    { cwd, env },
  );
  return Number(/^# pass (\d+)$/m.exec(stdout)![1]);
}
