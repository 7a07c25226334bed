/** Loads tool definitions and activities, both shipped ones and the project's. */
import { setTimeout } from 'node:timers/promises';
import { compilePatterns, type JsonSchema } from '../../operations/tool/schema.js';
import type { Tool } from '../../operations/tool/index.js';
import type { Settings } from '../settings/index.js';
import { filesOf } from './index.js';
import { ProjectModules } from './modules.js';
import { placeOfMatch, placeOfName, problemsOfLoad, ProjectError } from './problems.js';

export type Activity = (...args: never[]) => unknown;

/** A file's exports, or the error that makes it unusable. */
export interface LoadedFile<T> {
  path: string;
  value?: T;
  error?: ProjectError;
}

/** Loads all tool definitions. A failing file doesn't affect the others. */
export function loadToolFiles(paths: string[], modules: ProjectModules): Promise<LoadedFile<Tool>[]> {
  return loadEach(paths, (path) => loadTool(path, modules));
}

/** Loads all activities: every function that a file exports, but no classes. A failing file doesn't affect the others. */
export function loadActivityFiles(
  settings: Settings,
  modules: ProjectModules,
): Promise<LoadedFile<Record<string, Activity>>[]> {
  return loadEach(filesOf('activities', settings), async (path) => {
    const exported = Object.entries((await load(path, modules)) as Record<string, unknown>);
    return Object.fromEntries(exported.filter((entry): entry is [string, Activity] => isFunction(entry[1])));
  });
}

/** Loads the definition in a file. @throws ProjectError when it can't be loaded, exports no tool or has an unsupported pattern */
export async function loadTool(path: string, modules = new ProjectModules()): Promise<Tool> {
  const { default: tool } = (await load(path, modules)) as { default?: Tool };
  if (!tool?.name || !tool.inputSchema || typeof tool.toWorkflowArguments !== 'function') {
    const message =
      'expected a default export made by defineTool(); a file that makes no tool belongs elsewhere, as in lib/';
    throw new ProjectError(`${path}: ${message}`, [{ path, message }]);
  }
  const schemas: [field: string, schema: JsonSchema | undefined][] = [
    ['input', tool.inputSchema],
    ['output', tool.outputSchema],
  ];
  for (const [name, schema] of Object.entries(tool.questions)) schemas.push([`questions.${name}`, schema]);
  for (const [field, schema] of schemas) {
    try {
      if (schema) compilePatterns(schema, `tool "${tool.name}": ${field}`);
    } catch (error) {
      throw new ProjectError(`${path}: ${(error as Error).message}`, problemsOfLoad(path, error));
    }
  }
  return tool;
}

/** Names defined by files, with the first file of each. */
export class NameRegistry {
  readonly #owners = new Map<string, string>();

  /** @param kind noun for messages, e.g. `a tool` */
  constructor(private readonly kind: string) {}

  /** Registers names for a file. Returns an error that names both files if another file has one of them. */
  take(names: string[], path: string): ProjectError | undefined {
    for (const name of names) {
      const other = this.#owners.get(name);
      if (other === undefined || other === path) continue;
      const message = `there is already ${this.kind} "${name}", in ${other}`;
      return new ProjectError(`${path}: ${message}`, [{ path, ...placeOfName(path, name), message }]);
    }
    for (const name of names) this.#owners.set(name, path);
    return undefined;
  }
}

function isFunction(value: unknown): value is Activity {
  return typeof value === 'function' && !/^class\b/.test(Function.prototype.toString.call(value));
}

/** Sequential, because a module that two files import concurrently would be half evaluated for one of them. */
async function loadEach<T>(paths: string[], loadOne: (path: string) => Promise<T>): Promise<LoadedFile<T>[]> {
  const files: LoadedFile<T>[] = [];
  for (const path of paths) {
    try {
      files.push({ path, value: await loadOne(path) });
    } catch (error) {
      files.push({ path, error: error instanceof ProjectError ? error : unusable(path, error) });
    }
  }
  return files;
}

async function load(path: string, modules: ProjectModules): Promise<unknown> {
  const ended = new AbortController();
  try {
    const loading = modules.import(path).then((exported) => ({ exported }));
    const loaded = await Promise.race([loading, loadLimit(ended.signal)]);
    if (loaded) return loaded.exported;
  } catch (error) {
    throw unusable(path, error);
  } finally {
    ended.abort();
  }
  const message = `the file is still being loaded after ${LOAD_LIMIT_MS / 1000} s; await in a function what may take long`;
  throw new ProjectError(`${path}: ${message}`, [{ path, ...placeOfMatch(path, TOP_AWAIT), message }]);
}

/** For the top level of a file, with its imports: an `await` there may never end. */
const LOAD_LIMIT_MS = 10_000;
const TICK_MS = 100;
const TOP_AWAIT = /^(?=\S)(?!\/|\*).*\bawait\b/m;

/** Counts this process's own ticks instead of the time, so a busy machine makes no file unusable. */
async function loadLimit(signal: AbortSignal): Promise<undefined> {
  for (let ms = 0; ms < LOAD_LIMIT_MS; ms += TICK_MS) await setTimeout(TICK_MS, undefined, { signal });
}

function unusable(path: string, error: unknown): ProjectError {
  const problems = problemsOfLoad(path, error);
  const message = problems.map((problem) => problem.message).join('; ');
  return new ProjectError(`${path} can't be loaded: ${message}`, problems, { cause: error });
}
