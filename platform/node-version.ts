/** Which Node.js this installation needs. Node.js of any version that has modules loads it. */
import { longhaulPackage } from './package.js';

/** The lowest version that `engines` in package.json names, e.g. `20.19`. */
export function oldestNode(): string {
  return longhaulPackage().engines.node.replace('>=', '');
}

/**
 * Says what is wrong with a Node.js that is too old; undefined for one that isn't.
 *
 * @param version default: that of this process
 */
export function nodeProblem(version: string = process.versions.node): string | undefined {
  const oldest = oldestNode();
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldest.split('.').map(Number);
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined;
  return `expected Node.js ${oldest} or newer; got ${version} (${process.execPath}); install a newer one, or put it first on PATH`;
}
