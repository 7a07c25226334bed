/** Longhaul's own package.json, and the Node.js version that it needs. Runs on any Node.js that supports modules. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CODE_ROOT } from '../code-root.js';

interface Package {
  version: string;
  engines: { node: string };
}

/** Compiled code is one folder deeper than the sources. */
const FILES = [CODE_ROOT, dirname(CODE_ROOT)].map((folder) => join(folder, 'package.json'));

/** @throws when the installation has none */
export function longhaulPackage(): Package {
  const file = FILES.find((one) => existsSync(one));
  if (file === undefined) throw new Error(`no package.json in ${CODE_ROOT} or above`);
  return JSON.parse(readFileSync(file, 'utf8')) as Package;
}

/** The lowest version in `engines` of package.json, e.g. `20.19`. */
function oldestNode(): string {
  return longhaulPackage().engines.node.replace('>=', '');
}

/** Message about a Node.js that is too old; undefined for a supported one. */
export function nodeProblem(version: string = process.versions.node): string | undefined {
  const oldest = oldestNode();
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldest.split('.').map(Number);
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined;
  return `expected Node.js ${oldest} or newer; got ${version} (${process.execPath}); install a newer one, or put it first on PATH`;
}
