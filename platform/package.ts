/** Longhaul's own package.json. Runs on any Node.js that supports modules. */
import { existsSync, readFileSync } from 'node:fs';

interface Package {
  version: string;
  engines: { node: string };
}

/** Compiled code is one folder deeper than the sources. */
const FILES = ['../package.json', '../../package.json'].map((path) => new URL(path, import.meta.url));

/** @throws when the installation has none */
export function longhaulPackage(): Package {
  const file = FILES.find((one) => existsSync(one));
  if (file === undefined) throw new Error(`no package.json above ${import.meta.url}`);
  return JSON.parse(readFileSync(file, 'utf8')) as Package;
}
