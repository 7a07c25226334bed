/**
 * Build IDs name the workflow code of a worker: the bundle's modules, how they were bundled, and the SDK's version. Code of
 * activities doesn't count, so a fix of an activity reaches open operations.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { relative } from 'node:path';
import { builtinModule, CODE_ROOT } from '../../platform/code-root.js';
import { isProjectFile } from '../../platform/project/index.js';
import { pathOf, type Compilation } from './bundle-graph.js';

const SDK_VERSION = (createRequire(import.meta.url)('@temporalio/worker/package.json') as { version: string })
  .version;

/** Modules that decide how a bundle is made. */
const BUNDLERS = ['worker/versions/compile-bundle', 'worker/versions/bundle-entry'].map(builtinModule);

/** Digests of a bundle's contents, equal on every machine and in every folder. */
export interface BundleDigests {
  digest: string;
  /** Digest of the modules outside of the project: Longhaul's and those in packages. */
  runtimeDigest: string;
}

/** @param entries modules written for this bundle; they name folders of this machine */
export function digestsOf(
  { modules }: Compilation,
  project: string,
  entries: readonly string[],
): BundleDigests {
  const own = [...modules].map(pathOf).filter((path) => path !== undefined && !entries.includes(path));
  const files = [...new Set(own as string[])].filter((path) => existsSync(path));
  const runtime = [...BUNDLERS, ...files.filter((path) => !isProjectFile(path))];
  const read = (paths: readonly string[]) =>
    digestOf(new Map(paths.map((path) => [path, readFileSync(path)])), project);
  return { digest: read([...runtime, ...files.filter(isProjectFile)]), runtimeDigest: read(runtime) };
}

/** Build ID of a bundle, such as `1.24.0-3f9c0a12b4d5e6f7`. */
export function buildIdOf({ digest }: Pick<BundleDigests, 'digest'>): string {
  return `${SDK_VERSION}-${digest.slice(0, 16)}`;
}

/** @param contents path -> content */
export function digestOf(contents: ReadonlyMap<string, string | Buffer>, project: string): string {
  const folder = existsSync(project) ? realpathSync(project) : project;
  const lines = [...contents].map(
    ([path, content]) => `${nameOf(path, folder)} ${createHash('sha256').update(content).digest('hex')}\n`,
  );
  return createHash('sha256').update(lines.sort().join('')).digest('hex');
}

/** Path of a module, free of this machine's folders. */
function nameOf(path: string, project: string): string {
  if (path.startsWith(CODE_ROOT)) return `longhaul/${relative(CODE_ROOT, path)}`;
  const [, inPackages] = /.*\/node_modules\/(.*)$/.exec(path) ?? [];
  return inPackages === undefined ? `project/${relative(project, path)}` : `packages/${inPackages}`;
}
