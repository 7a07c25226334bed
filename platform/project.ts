/**
 * The three kinds of files that make tools: those that ship with Longhaul and those of the user's project. One
 * file a tool in `tools/`, `workflows/` and `activities/`, under the same name.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Settings } from './config.js';

/** Root of the running code: `dist`, or the checkout when its TypeScript is run. */
export const CODE_ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const EXTENSION = import.meta.url.endsWith('.ts') ? '.ts' : '.js';

/** Path of one of Longhaul's own modules, e.g. `workflows/runtime/index`. */
export function builtinModule(name: string): string {
  return join(CODE_ROOT, name + EXTENSION);
}

/** What users' code imports, and the module that it gets: always the running copy of Longhaul. */
export const PACKAGE_ENTRIES: Record<string, string> = {
  longhaul: builtinModule('index'),
  'longhaul/workflow': builtinModule('workflows/runtime/index'),
  'longhaul/activity': builtinModule('activities/runtime/index'),
};

/**
 * Temporal's packages as users' code gets them: Longhaul's own copies, so that no project has to install any, and a
 * project that did never runs two versions at once. Name -> folder.
 */
export const SDK_PACKAGES: Record<string, string> = Object.fromEntries(
  ['@temporalio/activity', '@temporalio/client', '@temporalio/common', '@temporalio/workflow'].map((name) => [
    name,
    dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)),
  ]),
);

export type CodeKind = 'tools' | 'workflows' | 'activities';

/** What runs pipelines and the mailbox: there whether or not the shipped tools are served. */
const ALWAYS_SERVED: readonly string[] = ['pipeline', 'mailbox'];

/** The files of one kind: shipped ones first, then the project's. */
export function filesOf(kind: CodeKind, settings: Settings): string[] {
  const shipped = codeIn(join(CODE_ROOT, kind)).filter(
    (path) => settings.shippedTools || ALWAYS_SERVED.includes(basename(path, extname(path))),
  );
  return [...shipped, ...projectFilesOf(kind, settings)];
}

/** Those of the project alone. */
export function projectFilesOf(kind: CodeKind, settings: Settings): string[] {
  return codeIn(projectFolder(kind, settings));
}

/** Is this a path that people edit while Longhaul runs? */
export function isProjectFile(path: string): boolean {
  return !path.includes('/node_modules/') && !path.startsWith(CODE_ROOT);
}

function codeIn(folder: string | undefined): string[] {
  if (folder === undefined || !existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /^[^.].*\.(ts|js|mts|mjs)$/.test(name) && !/\.(test|d)\.ts$/.test(name))
    .sort()
    .map((name) => join(folder, name));
}

function projectFolder(kind: CodeKind, settings: Settings): string | undefined {
  const folder = join(settings.project, kind);
  // In Longhaul's own checkout the project's folders are the shipped ones, or their sources.
  const isOwn = folder === join(CODE_ROOT, kind) || settings.project === dirname(CODE_ROOT);
  return isOwn ? undefined : folder;
}

/** A file of the home about this project as it runs on this task queue, in the cache: `served-3f9c0a12b4d5e6f7.json`. */
export function projectCacheFile({ home, project, taskQueue }: Settings, name: string): string {
  const digest = createHash('sha256').update(`${project}\n${taskQueue}`).digest('hex').slice(0, 16);
  return join(home, 'cache', `${name}-${digest}.json`);
}
