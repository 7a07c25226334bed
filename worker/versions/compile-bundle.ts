/** One run of the SDK's bundler over files of workflows. */
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger, type BundleOptions } from '@temporalio/worker';
import { builtinModule, CODE_ROOT } from '../../platform/code-root.js';
import { SANDBOX_ENTRIES, SDK_PACKAGES } from '../../platform/project/index.js';
import { digestsOf, type BundleDigests } from './build-id.js';
import { completeBundle, entryCode, PRELOAD_CODE } from './bundle-entry.js';
import { bundledFile, type BundledFile, type Compilation } from './bundle-graph.js';
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
