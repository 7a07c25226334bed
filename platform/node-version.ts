/** The Node.js version that this installation needs. Runs on any Node.js that supports modules. */
import { longhaulPackage } from './package.js';

/** The lowest version in `engines` of package.json, e.g. `20.19`. */
export function oldestNode(): string {
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
