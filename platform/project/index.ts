/**
 * Finds the files that make tools, in `tools/`, `workflows/` and `activities/`: shipped ones and the project's. Each tool has one
 * file per kind with the same name; a shipped tool may have a folder with an index.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, extname, join } from 'node:path';
import { builtinModule, CODE_EXTENSION, CODE_ROOT, IS_COMPILED } from '../code-root.js';
import type { Settings } from '../settings/index.js';

/** Import specifiers of users' code in the workflow sandbox, resolved to the modules that shipped workflows import. */
export const SANDBOX_ENTRIES: Record<string, string> = {
  longhaul: builtinModule('index'),
  'longhaul/workflow': builtinModule('workflows/runtime/index'),
  'longhaul/activity': builtinModule(IS_COMPILED ? 'bin/activity' : 'activities/runtime/index'),
};

/** Import specifiers of users' code, resolved to the running copy of Longhaul. */
export const PACKAGE_ENTRIES: Record<string, string> = {
  ...SANDBOX_ENTRIES,
  longhaul: builtinModule(IS_COMPILED ? 'bin/index' : 'index'),
};

/** Temporal's packages for users' code (name -> folder): Longhaul's copies, so that two versions never run at once. */
export const SDK_PACKAGES: Record<string, string> = Object.fromEntries(
  ['@temporalio/activity', '@temporalio/client', '@temporalio/common', '@temporalio/workflow'].map((name) => [
    name,
    dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)),
  ]),
);

export type CodeKind = 'tools' | 'workflows' | 'activities';

/** Code of pipelines, queues and Nexus operations, loaded even if the shipped tools are off. */
const ALWAYS_SERVED: readonly string[] = ['pipeline', 'queue', 'nexus'];
/** The mailbox's workflows, always loaded so that any worker can serve a mailbox. */
const MAILBOX_WORKFLOWS = builtinModule('mailbox/workflows/index');

/** Files of one kind, shipped ones first. */
export function filesOf(kind: CodeKind, settings: Settings): string[] {
  const shipped = shippedFilesOf(kind).flatMap(({ name, path }) =>
    settings.shippedTools || ALWAYS_SERVED.includes(name) ? [path] : [],
  );
  const mailbox = kind === 'workflows' ? [MAILBOX_WORKFLOWS] : [];
  return [...shipped, ...mailbox, ...projectFilesOf(kind, settings)];
}

/** `name.ts` and `name/index.ts`, except what authors import (`longhaul/workflow`, `longhaul/activity`). */
function shippedFilesOf(kind: CodeKind): { name: string; path: string }[] {
  // Workflows stay separate files, so that a sandbox loads only its own.
  const folder = join(CODE_ROOT, IS_COMPILED && kind !== 'workflows' ? join('bin', kind) : kind);
  const files = codeIn(folder).map((path) => ({ name: basename(path, extname(path)), path }));
  const indexes = readdirSync(folder)
    .map((name) => ({ name, path: join(folder, name, `index${CODE_EXTENSION}`) }))
    .filter(({ path }) => existsSync(path) && !Object.values(PACKAGE_ENTRIES).includes(path));
  return [...files, ...indexes];
}

export function projectFilesOf(kind: CodeKind, settings: Settings): string[] {
  return codeIn(projectFolder(kind, settings));
}

/** The project's folder of tools, unless it is Longhaul's own. It may also hold YAML files of external workflows. */
export function toolFolderOf(settings: Settings): string | undefined {
  return projectFolder('tools', settings);
}

/** Whether people may edit this file while Longhaul runs. */
export function isProjectFile(path: string): boolean {
  return !path.includes('/node_modules/') && !path.startsWith(CODE_ROOT);
}

function codeIn(folder: string | undefined): string[] {
  const isCode = (name: string) =>
    /^[^.].*\.(ts|js|mts|mjs)$/.test(name) && !/\.(test|spec|d)\.[mc]?[jt]s$/.test(name);
  return filesIn(folder, isCode);
}

/** Paths of a folder's files that are meant, by their names, sorted; none if it doesn't exist. */
export function filesIn(folder: string | undefined, isMeant: (name: string) => boolean): string[] {
  if (folder === undefined || !existsSync(folder)) return [];
  return readdirSync(folder)
    .filter(isMeant)
    .sort()
    .map((name) => join(folder, name));
}

function projectFolder(kind: CodeKind, settings: Settings): string | undefined {
  const folder = join(settings.project, kind);
  // In Longhaul's own checkout the project's folders are the shipped ones, or their sources.
  const isOwn = folder === join(CODE_ROOT, kind) || settings.project === dirname(CODE_ROOT);
  return isOwn ? undefined : folder;
}

/** Cache file in the home for this project and task queue: `served-3f9c0a12b4d5e6f7.json`. */
export function projectCacheFile({ home, project, taskQueue }: Settings, name: string): string {
  const digest = createHash('sha256').update(`${project}\n${taskQueue}`).digest('hex').slice(0, 16);
  return join(home, 'cache', `${name}-${digest}.json`);
}
