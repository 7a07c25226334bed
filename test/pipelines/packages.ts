/** npm packages as they are published, which the examples' results are checked against. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromNpm } from './registry.js';

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

/** Size of a package's files once it is unpacked. */
export function unpackedBytes(tarball: Buffer): number {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-package-'));
  try {
    execFileSync('tar', ['-xzf', '-', '-C', folder], { input: tarball });
    return readdirSync(join(folder, 'package'), { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
