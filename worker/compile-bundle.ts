/** One run of the SDK's bundler over files of workflows. */
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bundleWorkflowCode, type Logger as TemporalLogger } from '@temporalio/worker';
import { CODE_ROOT, builtinModule, PACKAGE_ENTRIES, SDK_PACKAGES } from '../platform/project.js';
import { bundledFile, type BundledFile, type Compilation } from './bundle-graph.js';
import { problemOfSdk, problemsOf, type BundleProblem } from './bundle-problems.js';

export interface CompiledBundle {
  /** Undefined when there are problems. */
  code: string | undefined;
  problems: BundleProblem[];
  /** By the path of each file that was found in the bundle. */
  files: Map<string, BundledFile>;
  /** All files that went into it. */
  used: string[];
  /** Paths that were looked for where there is nothing. */
  missing: string[];
}

/**
 * @param entryPath where a module that exports all of them is written
 * @param activityFiles what workflows may import types of, and nothing else
 */
export async function compileBundle(
  paths: readonly string[],
  entryPath: string,
  activityFiles: readonly string[],
): Promise<CompiledBundle> {
  writeFileSync(entryPath, paths.map((path) => `export * from ${JSON.stringify(path)};\n`).join(''));
  let compilation: Compilation | undefined;
  const bundling = bundleWorkflowCode({
    workflowsPath: entryPath,
    workflowInterceptorModules: [builtinModule('workflows/runtime/interceptors')],
    logger: SILENT,
    webpackConfigHook: (config) => ({
      ...config,
      plugins: [
        ...(config.plugins ?? []),
        (compiler) =>
          compiler.hooks.done.tap('longhaul', (stats) => {
            compilation = stats.compilation;
          }),
      ],
      // Code may load a module only where it is needed: createRequire(import.meta.url)('x').
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
          // Always the running copies of Longhaul and of Temporal's SDK: two would not see each other.
          ...Object.fromEntries(Object.entries(PACKAGE_ENTRIES).map(([name, path]) => [`${name}$`, path])),
          ...sandboxed(SDK_PACKAGES),
        },
        // Users' projects need no copy of what Longhaul's own code imports.
        modules: [...(config.resolve?.modules ?? []), ...modulesAbove(CODE_ROOT)],
      },
    }),
  });
  const finished = await bundling.then(
    ({ code }) => ({ code, error: undefined }),
    (error: Error) => ({ code: undefined, error }),
  );
  const found = compilation ? problemsOf(compilation, activityFiles) : [];
  const problems = found.length > 0 || !finished.error ? found : [problemOfSdk(finished.error)];
  const files = new Map<string, BundledFile>();
  for (const path of paths) {
    const file = compilation && bundledFile(compilation, path);
    if (file) files.set(path, file);
  }
  return {
    code: problems.length > 0 ? undefined : finished.code,
    problems,
    files,
    used: [...(compilation?.fileDependencies ?? [])],
    missing: [...(compilation?.missingDependencies ?? [])],
  };
}

/** Those of Temporal's packages that the sandbox takes; the SDK refuses the others, which must stay as they are. */
function sandboxed(packages: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(packages).filter(([name]) => /(common|workflow)$/.test(name)));
}

/** Every `node_modules` that code in this folder can import from. */
function modulesAbove(folder: string): string[] {
  const above = dirname(folder);
  return [join(folder, 'node_modules'), ...(above === folder ? [] : modulesAbove(above))];
}

const nothing = () => undefined;
/** The bundler's own report goes on for pages; what matters of it is returned. */
const SILENT: TemporalLogger = {
  log: nothing,
  trace: nothing,
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
};
