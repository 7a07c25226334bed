/**
 * The three kinds of files that make tools: those that ship with Longhaul and those of the user's project. One
 * file a tool in `tools/`, `workflows/` and `activities/`, under the same name.
 */
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Jiti } from 'jiti';
import { compilePatterns } from '../operations/schema.js';
import type { Tool } from '../operations/tool.js';
import { SettingsError, type Settings } from './config.js';

/** Root of the running code: `dist`, or the checkout when its TypeScript is run. */
export const CODE_ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const EXTENSION = import.meta.url.endsWith('.ts') ? '.ts' : '.js';

/** Path of one of Longhaul's own modules, e.g. `workflows/shell/index`. */
export function ownModule(name: string): string {
  return join(CODE_ROOT, name + EXTENSION);
}

/** What users' code imports, and the module that it gets: always the running copy of Longhaul. */
export const PACKAGE_ENTRIES: Record<string, string> = {
  longhaul: ownModule('index'),
  'longhaul/workflow': ownModule('workflows/shell/index'),
  'longhaul/activity': ownModule('activities/shared/index'),
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

type Kind = 'tools' | 'workflows' | 'activities';

/** What runs pipelines and the mailbox: there whether or not the shipped tools are served. */
const ALWAYS_THERE: readonly string[] = ['pipeline', 'mailbox'];

/** The files of one kind: shipped ones first, then the project's. */
export function filesOf(kind: Kind, settings: Settings): string[] {
  const shipped = codeIn(join(CODE_ROOT, kind)).filter(
    (path) => settings.shippedTools || ALWAYS_THERE.includes(basename(path, extname(path))),
  );
  return [...shipped, ...codeIn(ownFolder(kind, settings))];
}

function codeIn(folder: string | undefined): string[] {
  if (folder === undefined || !existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /\.(ts|js|mts|mjs)$/.test(name) && !/\.(test|d)\.ts$/.test(name))
    .sort()
    .map((name) => join(folder, name));
}

/**
 * Loads the definitions of all tools.
 *
 * @throws SettingsError that names the file when one can't be loaded, exports no tool or repeats a name
 */
export async function loadTools(settings: Settings): Promise<Map<string, Tool>> {
  const tools = new Map<string, Tool>();
  const origins = new Map<string, string>();
  for (const path of filesOf('tools', settings)) {
    const tool = await loadTool(path);
    assertNew(origins, 'a tool', tool.name, path);
    tools.set(tool.name, tool);
  }
  return tools;
}

/**
 * Loads the definition in a file.
 *
 * @throws SettingsError that names the file when it can't be loaded, exports no tool or has a pattern that can't be used
 */
export async function loadTool(path: string): Promise<Tool> {
  const { default: tool } = (await load(path)) as { default?: Tool };
  if (!tool?.name || !tool.inputSchema)
    throw new SettingsError(`${path}: expected a default export made by defineTool()`);
  for (const [field, schema] of Object.entries({ input: tool.inputSchema, output: tool.outputSchema })) {
    try {
      if (schema) compilePatterns(schema, `tool "${tool.name}": ${field}`);
    } catch (error) {
      throw new SettingsError(`${path}: ${(error as Error).message}`);
    }
  }
  return tool;
}

/**
 * Loads the activities of all tools: every function that a file exports.
 *
 * @throws SettingsError that names the file when one can't be loaded or repeats a name
 */
export async function loadActivities(
  settings: Settings,
): Promise<Record<string, (...args: never[]) => unknown>> {
  const activities: Record<string, (...args: never[]) => unknown> = {};
  const origins = new Map<string, string>();
  for (const path of filesOf('activities', settings)) {
    for (const [name, value] of Object.entries((await load(path)) as Record<string, unknown>)) {
      if (typeof value !== 'function') continue;
      assertNew(origins, 'an activity', name, path);
      activities[name] = value as (...args: never[]) => unknown;
    }
  }
  return activities;
}

/** @throws SettingsError that names both files */
function assertNew(origins: Map<string, string>, kind: string, name: string, path: string): void {
  const other = origins.get(name);
  if (other !== undefined)
    throw new SettingsError(`${path}: there is ${kind} "${name}" already, in ${other}`);
  origins.set(name, path);
}

function ownFolder(kind: Kind, settings: Settings): string | undefined {
  const folder = join(settings.project, kind);
  // In Longhaul's own checkout the project's folders are the shipped ones, or their sources.
  const isOwn = folder === join(CODE_ROOT, kind) || settings.project === dirname(CODE_ROOT);
  return isOwn ? undefined : folder;
}

let jiti: Jiti | undefined;

async function load(path: string): Promise<unknown> {
  try {
    if (path.startsWith(CODE_ROOT)) return (await import(path)) as unknown;
    const { createJiti } = await import('jiti');
    jiti ??= createJiti(import.meta.url, { alias: { ...SDK_PACKAGES, ...PACKAGE_ENTRIES } });
    return await jiti.import(path);
  } catch (error) {
    const [message = ''] = (error instanceof Error ? error.message : String(error)).split('\nRequire stack:');
    throw new SettingsError(`${path} can't be loaded: ${message.replaceAll(/\s+/g, ' ')}`, { cause: error });
  }
}
