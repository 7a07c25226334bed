/**
 * The bundle of workflow code that Temporal's sandbox runs: the shell and all workflows. The shipped workflows are
 * bundled as Longhaul is built. With a user's own, a bundle is made as the worker starts, and used again as long as
 * none of the files that went into it has changed.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bundleWorkflowCode, type Logger as TemporalLogger } from '@temporalio/worker';
import { SettingsError, type Settings } from '../platform/config.js';
import { CODE_ROOT, filesOf, ownModule, PACKAGE_ENTRIES, SDK_PACKAGES } from '../platform/project.js';
import { unfinishedPath } from '../platform/unfinished-files.js';
import { problemOf, problemsOf } from './bundle-problems.js';

const SHIPPED_BUNDLE = join(CODE_ROOT, 'workflow-bundle.js');

/** What a bundle was made from: path -> time of its last change, in milliseconds. */
type Ingredients = Record<string, number>;

/** Path of the bundle for these settings; made now when there is none that is up to date, which takes 2 seconds. */
export async function workflowBundle(settings: Settings, logger: TemporalLogger): Promise<string> {
  const files = filesOf('workflows', settings);
  const isShippedOnly = settings.shippedTools && files.every((path) => path.startsWith(CODE_ROOT));
  if (isShippedOnly && existsSync(SHIPPED_BUNDLE)) return SHIPPED_BUNDLE;
  const folder = join(settings.home, 'cache');
  mkdirSync(folder, { recursive: true });
  const name = join(
    folder,
    `workflows-${createHash('sha256').update(files.join('\n')).digest('hex').slice(0, 16)}`,
  );
  const bundlePath = `${name}.bundle.js`;
  if (isUpToDate(`${name}.json`, bundlePath)) return bundlePath;
  // A package.json above the home may say that .js files are CommonJS.
  await bundle(files, `${name}.mjs`, bundlePath, logger, `${name}.json`);
  return bundlePath;
}

/** Bundles the shipped workflows; called by the build. */
export async function bundleShippedWorkflows(settings: Settings, logger: TemporalLogger): Promise<void> {
  await bundle(filesOf('workflows', settings), join(CODE_ROOT, 'workflow-entry.js'), SHIPPED_BUNDLE, logger);
}

async function bundle(
  files: string[],
  entryPath: string,
  bundlePath: string,
  logger: TemporalLogger,
  ingredientsPath?: string,
): Promise<void> {
  writeFileSync(entryPath, files.map((path) => `export * from ${JSON.stringify(path)};\n`).join(''));
  const used = new Set<string>();
  const problems: string[] = [];
  const bundling = bundleWorkflowCode({
    workflowsPath: entryPath,
    workflowInterceptorModules: [ownModule('workflows/shell/interceptors')],
    logger: withoutOutput(logger),
    webpackConfigHook: (config) => ({
      ...config,
      plugins: [
        ...(config.plugins ?? []),
        (compiler) =>
          compiler.hooks.done.tap('longhaul', ({ compilation }) => {
            for (const path of compilation.fileDependencies) used.add(path);
            problems.push(...problemsOf(compilation));
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
  const { code } = await bundling.catch((error: Error) => {
    throw new SettingsError(`the workflows can't be bundled: ${problems.join('; ') || problemOf(error)}`);
  });
  if (problems.length) throw new SettingsError(`the workflows can't be bundled: ${problems.join('; ')}`);
  writeWhole(bundlePath, code);
  const ingredients = [...used].filter((path) => existsSync(path) && statSync(path).isFile());
  if (ingredientsPath)
    writeWhole(
      ingredientsPath,
      JSON.stringify(Object.fromEntries(ingredients.map((path) => [path, changedAt(path)]))),
    );
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

/** The bundler's own report goes on for pages; what matters of it is thrown. */
function withoutOutput(logger: TemporalLogger): TemporalLogger {
  const toTrace: TemporalLogger['trace'] = (message, meta) => void logger.trace(message, meta);
  return {
    log: (_level, message, meta) => toTrace(message, meta) as void,
    trace: toTrace,
    debug: toTrace,
    info: toTrace,
    warn: toTrace,
    error: toTrace,
  };
}

function isUpToDate(ingredientsPath: string, bundlePath: string): boolean {
  if (!existsSync(bundlePath) || !existsSync(ingredientsPath)) return false;
  const ingredients = JSON.parse(readFileSync(ingredientsPath, 'utf8')) as Ingredients;
  return Object.entries(ingredients).every(([path, at]) => existsSync(path) && changedAt(path) === at);
}

function changedAt(path: string): number {
  return statSync(path).mtimeMs;
}

/** Two workers may bundle at once: each file appears whole. */
function writeWhole(path: string, text: string): void {
  const unfinished = unfinishedPath(path);
  writeFileSync(unfinished, text);
  renameSync(unfinished, path);
}
