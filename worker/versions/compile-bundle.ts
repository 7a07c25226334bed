/**
 * One run of the SDK's bundler over files of workflows, and the build ID of the result: it names the bundle's modules, how they were bundled,
 * and the SDK's version. Code of activities doesn't count, so a fix of an activity reaches open operations.
 */
import { writeFileSync, existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { bundleWorkflowCode, DefaultLogger, type BundleOptions } from '@temporalio/worker';
import { builtinModule, CODE_ROOT } from '../../platform/code-root.js';
import { SANDBOX_ENTRIES, SDK_PACKAGES, isProjectFile } from '../../platform/project/index.js';
import { completeBundle, entryCode, PRELOAD_CODE } from './bundle-entry.js';
import { bundledFile, type BundledFile, type Compilation, pathOf } from './bundle-graph.js';
import { conflictsOf, problemOfSdk, problemsOf, type BundleProblem } from './bundle-problems.js';
import { originalOf } from './kept-code.js';

export interface CompiledBundle {
  /** Undefined when there are problems, like `digests`. */
  code: string | undefined;
  digests: BundleDigests | undefined;
  problems: BundleProblem[];
  /** Paths of the modules written for this bundle. */
  entries: string[];
  /** Path -> bundled file. */
  files: Map<string, BundledFile>;
  used: string[];
  /** Missing paths that imports resolve to. */
  missing: string[];
}

export interface CompileOptions {
  /** `.cjs` path of the module that exports all of them. It is written, and one for shared modules beside it. */
  entryPath: string;
  /** Files that workflows may import types from, but no values. */
  activityFiles: readonly string[];
  project: string;
  /** Exported name -> path of the kept copy that exports it instead of a file in `paths`. Default: none. */
  kept?: Readonly<Record<string, string>>;
  /** Further plugin of the bundler. Default: none. */
  inspect?: (compiler: WebpackCompiler) => void;
}

type Bundler = Parameters<NonNullable<BundleOptions['webpackConfigHook']>>[0];
/** The compiler that webpack gives to plugins. */
export type WebpackCompiler = Parameters<
  Extract<NonNullable<Bundler['plugins']>[number], (...args: never[]) => void>
>[0];

export async function compileBundle(
  paths: readonly string[],
  { entryPath, activityFiles, project, kept = {}, inspect }: CompileOptions,
): Promise<CompiledBundle> {
  const preloadPath = entryPath.replace(/\.cjs$/, '-preload.cjs');
  const entryFiles = [...paths, ...new Set(Object.values(kept))];
  writeFileSync(entryPath, entryCode(entryFiles));
  writeFileSync(preloadPath, PRELOAD_CODE);
  let compilation: Compilation | undefined;
  const bundling = bundleWorkflowCode({
    workflowsPath: entryPath,
    preloadModules: [preloadPath],
    workflowInterceptorModules: [builtinModule('workflows/runtime/interceptors')],
    // The problems are returned.
    logger: new DefaultLogger('ERROR', () => undefined),
    webpackConfigHook: (config) => ({
      ...config,
      plugins: [
        ...(config.plugins ?? []),
        ...(inspect ? [inspect] : []),
        (compiler) => {
          compiler.hooks.done.tap('longhaul', (stats) => {
            compilation = stats.compilation;
          });
          // A kept copy uses its original's packages.
          compiler.hooks.normalModuleFactory.tap('longhaul', ({ hooks }) => {
            hooks.beforeResolve.tap('longhaul', (data) => {
              if (!data.request.startsWith('.')) data.context = originalOf(data.context);
            });
          });
        },
      ],
      // Allows code to load a module lazily: createRequire(import.meta.url)('x').
      module: {
        ...config.module,
        parser: {
          ...config.module?.parser,
          javascript: { ...config.module?.parser?.['javascript'], createRequire: true },
        },
      },
      resolve: {
        ...config.resolve,
        extensionAlias: { '.js': ['.ts', '.js'] },
        alias: {
          ...config.resolve?.alias,
          // Always the running copies of Longhaul and Temporal's SDK: two copies would not share state.
          ...Object.fromEntries(Object.entries(SANDBOX_ENTRIES).map(([name, path]) => [`${name}$`, path])),
          ...sandboxed(SDK_PACKAGES),
        },
        // Lets Longhaul's dependencies resolve without a copy in the user's project.
        modules: [...(config.resolve?.modules ?? []), ...modulesAbove(CODE_ROOT)],
      },
    }),
  });
  const finished = await bundling.then(
    ({ code }) => ({ code, error: undefined }),
    (error: Error) => ({ code: undefined, error }),
  );
  const files = new Map<string, BundledFile>();
  for (const path of paths) {
    const file = compilation && bundledFile(compilation, path);
    if (file) files.set(path, file);
  }
  const found = compilation ? [...conflictsOf(files), ...problemsOf(compilation, activityFiles)] : [];
  const problems = found.length > 0 || !finished.error ? found : [problemOfSdk(finished.error)];
  const isUsable = problems.length === 0;
  const entries = [entryPath, preloadPath];
  const fileOf = Object.fromEntries([
    ...paths.flatMap((path, index) => (files.get(path)?.exports ?? []).map((name) => [name, index])),
    ...Object.entries(kept).map(([name, path]) => [name, entryFiles.indexOf(path)]),
  ]) as Record<string, number>;
  return {
    code: isUsable ? completeBundle(finished.code!, compilation!, fileOf) : undefined,
    digests: isUsable ? digestsOf(compilation!, project, entries) : undefined,
    problems,
    entries,
    files,
    used: [...(compilation?.fileDependencies ?? [])],
    missing: [...(compilation?.missingDependencies ?? [])],
  };
}

/** The Temporal packages that the sandbox allows. The others get no alias, so the SDK refuses them. */
function sandboxed(packages: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(packages).filter(([name]) => /(common|workflow)$/.test(name)));
}

function modulesAbove(folder: string): string[] {
  const above = dirname(folder);
  return [join(folder, 'node_modules'), ...(above === folder ? [] : modulesAbove(above))];
}

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
function digestsOf({ modules }: Compilation, project: string, entries: readonly string[]): BundleDigests {
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
