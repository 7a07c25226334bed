/** Checks everything in a project that a server or worker would load, without Temporal. */
import { mkdtempSync, rmSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, dirname, resolve } from 'node:path';
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { clientFindings } from '../../operations/documentation/gaps.js';
import { schemaPlace } from '../../operations/tool/schema.js';
import type { Tool } from '../../operations/tool/index.js';
import type { Settings } from '../../platform/settings/index.js';
import {
  filesOf,
  isProjectFile,
  projectFilesOf,
  toolFolderOf,
  type CodeKind,
} from '../../platform/project/index.js';
import { loadActivityFiles, loadToolFiles, NameRegistry } from '../../platform/project/code.js';
import { ProjectModules } from '../../platform/project/modules.js';
import {
  placeOfField,
  placeOfMatch,
  placeOfName,
  type ProjectProblem,
} from '../../platform/project/problems.js';
import { reservedNames } from '../../mcp-server/mount.js';
import { MOUNTS } from '../../mounts.js';
import { reservedNameConflict } from '../../platform/project/code-tools.js';
import { BundleError, bundleWorkflows } from '../../worker/versions/bundle.js';
import { missingWorkflows } from '../../worker/versions/follow-edits.js';
import { shortestPath } from '../console.js';
import { ParsedWorkflows } from './parsed-workflows.js';
import { workflowMistakes } from './workflow-mistakes.js';

export interface CheckedFile {
  /** Relative to the working folder, if it is within it. */
  file: string;
  ok: boolean;
  /** Describes its exports: the name of a tool, or of activities. */
  gives?: string;
  tool?: string;
  problems: ProjectProblem[];
}

export interface CheckedTypes {
  checked: boolean;
  /** Version of TypeScript, or why types weren't checked. */
  detail: string;
}

type ActivityFiles = Awaited<ReturnType<typeof loadActivityFiles>>;

/** Exports of the files, by path. */
type Given = Map<string, { gives: string; tool?: string }>;

/** @returns undefined when the project has no code of its own */
export async function checkProject(
  settings: Settings,
): Promise<{ files: CheckedFile[]; types: CheckedTypes } | undefined> {
  const kinds: CodeKind[] = ['tools', 'workflows', 'activities'];
  const own = kinds.flatMap((kind) => projectFilesOf(kind, settings));
  if (own.length === 0) return undefined;
  const given: Given = new Map();
  const activities = await loadActivityFiles(settings, new CheckedModules());
  const problems = [
    ...(await toolProblems(settings, given)),
    ...activityProblems(activities, given),
    ...(await workflowProblems(settings, given, activityNames(activities))),
  ];
  const { problems: typeProblems, ...types } = checkTypes(settings.project);
  const all = [...problems, ...typeProblems];
  const paths = [...new Set([...own, ...all.map(({ path }) => path)])];
  return {
    files: paths.map((path) => {
      const file = shortestPath(path);
      const found = all.filter((one) => one.path === path).map((one) => ({ ...one, path: file }));
      return { file, ok: found.length === 0, ...given.get(path), problems: found };
    }),
    types,
  };
}

async function toolProblems(settings: Settings, given: Given): Promise<ProjectProblem[]> {
  const names = new NameRegistry('a tool');
  const reserved = reservedNames(MOUNTS, settings);
  const modules = new CheckedModules();
  const files = await loadToolFiles(filesOf('tools', settings), modules);
  const others: ProjectProblem[] = [];
  for (const { path, value } of files) if (value) others.push(...(await otherTools(path, modules)));
  const loaded = files.flatMap(({ path, value, error }) => {
    if (value) given.set(path, { gives: `tool ${value.name}`, tool: value.name });
    const conflict = value && reservedNameConflict(value.name, reserved);
    if (conflict !== undefined) return [{ path, message: conflict }];
    const problems = (error ?? (value && names.take([value.name], path)))?.problems ?? [];
    return [...problems, ...(value ? findingsOf(value, path) : [])];
  });
  return [...loaded, ...others, ...toolsInFolders(settings)];
}

/** Tools that a file exports beside its default export: nobody sees them. */
async function otherTools(path: string, modules: ProjectModules): Promise<ProjectProblem[]> {
  if (!isProjectFile(path)) return [];
  const exported = Object.entries((await modules.import(path)) as Record<string, Partial<Tool> | undefined>);
  return exported
    .filter(([name, tool]) => name !== 'default' && typeof tool?.toWorkflowArguments === 'function')
    .filter(([, tool]) => tool !== Object.fromEntries(exported)['default'])
    .map(([, tool]) => {
      const name = tool!.name!;
      const message = `the tool "${name}" is not served: a file has one tool, its default export; move it to tools/${name}.ts`;
      return { path, ...placeOfName(path, name), message };
    });
}

/** Tools in folders of `tools/`, which nobody reads. */
function toolsInFolders(settings: Settings): ProjectProblem[] {
  const folder = toolFolderOf(settings);
  if (folder === undefined || !existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /^(?!.*node_modules).+[/\\].+(?<!\.(test|spec|d))\.[mc]?[jt]s$/.test(name))
    .map((name) => join(folder, name))
    .flatMap((path) => {
      const place = placeOfMatch(path, /\bdefineTool\s*\(/);
      const message = 'the tool is not served: only files of tools/ itself are tools; move it there';
      return place ? [{ path, ...place, message }] : [];
    });
}

function findingsOf(tool: Tool, path: string): ProjectProblem[] {
  const { name, inputSchema } = tool;
  const text = textProblem(tool);
  if (text !== undefined) return [{ path, ...placeOfField(path, text), message: text }];
  return clientFindings(inputSchema).map(({ path: keys, message: finding }) => {
    const message = `tool ${JSON.stringify(name)}: input${schemaPlace(keys)}: ${finding}`;
    return { path, ...placeOfField(path, message), message };
  });
}

/** Tries `toText` with the example of the output. */
function textProblem({ name, example, toText }: Tool): string | undefined {
  if (example?.output === undefined) return undefined;
  const problem = (got: string) =>
    `tool ${JSON.stringify(name)}: toText: expected text for the output ${JSON.stringify(example.output)}; ${got}`;
  try {
    const text: unknown = toText(example.output);
    return typeof text === 'string' ? undefined : problem(`got ${text === null ? 'null' : typeof text}`);
  } catch (error) {
    return problem(`it throws ${String(error)}`);
  }
}

function activityProblems(files: ActivityFiles, given: Given): ProjectProblem[] {
  const names = new NameRegistry('an activity');
  return files.flatMap(({ path, value, error }) => {
    const exported = Object.keys(value ?? {});
    given.set(path, { gives: named(exported, 'activity', 'activities') });
    const problems = (error ?? names.take(exported, path))?.problems ?? [];
    return isProjectFile(path) && 'default' in (value ?? {})
      ? [...problems, defaultActivity(path)]
      : problems;
  });
}

/** Temporal's default activity has no name of its own, and hides what is misspelt. */
function defaultActivity(path: string): ProjectProblem {
  const message =
    'the default export is run for every activity that no file exports, also for misspelt ones; give it a name: export async function';
  return { path, ...placeOfMatch(path, /\bexport\s+default\b|\bas\s+default\b/), message };
}

async function workflowProblems(
  settings: Settings,
  given: Given,
  activities: string[] | undefined,
): Promise<ProjectProblem[]> {
  // The home's cache belongs to its workers.
  const home = mkdtempSync(join(tmpdir(), 'longhaul-check-'));
  try {
    const parsed = new ParsedWorkflows();
    const bundle = await bundleWorkflows({ ...settings, home }, { leavesOut: true, inspect: parsed.plugin });
    for (const path of projectFilesOf('workflows', settings)) {
      const exported = Object.entries(bundle.paths).flatMap(([name, from]) => (from === path ? [name] : []));
      given.set(path, { gives: named(exported, 'workflow', 'workflows') });
    }
    const missing = await missingWorkflows(settings, Object.keys(bundle.exports), bundle.problems);
    const names = { workflows: Object.keys(bundle.exports), activities };
    return [...bundle.problems, ...missing, ...workflowMistakes(parsed.files, names)];
  } catch (error) {
    if (!(error instanceof BundleError)) throw error;
    const workflows = join(settings.project, 'workflows');
    return error.problems.map((problem) => ({ ...problem, path: problem.path || workflows }));
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Undefined if not all are known: a file is broken, or another one takes every name. */
function activityNames(files: ActivityFiles): string[] | undefined {
  const names = files.flatMap(({ value }) => Object.keys(value ?? {}));
  return files.some(({ error }) => error) || names.includes('default') ? undefined : names;
}

function named(names: string[], one: string, many: string): string {
  return names.length === 0 ? `no ${many}` : `${names.length === 1 ? one : many} ${names.join(', ')}`;
}

/** Limit for reading compiler output. */
const OUTPUT_LIMIT_BYTES = 16 * 1024 * 1024;

/** @param project folder with `tsconfig.json`, and TypeScript in its `node_modules` or an ancestor's */
function checkTypes(project: string): CheckedTypes & { problems: ProjectProblem[] } {
  const notChecked = (detail: string) => ({ checked: false, detail, problems: [] });
  const config = join(project, 'tsconfig.json');
  if (!existsSync(config)) return notChecked(`there is no ${config}`);
  let manifest: string;
  try {
    manifest = createRequire(join(project, 'package.json')).resolve('typescript/package.json');
  } catch {
    return notChecked(
      `TypeScript isn't installed in ${project}; run npm install --save-dev typescript @types/node`,
    );
  }
  const { version, bin } = JSON.parse(readFileSync(manifest, 'utf8')) as {
    version: string;
    bin: { tsc: string };
  };
  const tsc = join(dirname(manifest), bin.tsc);
  const args = [tsc, '--noEmit', '--pretty', 'false', '--project', config];
  const options = { cwd: project, encoding: 'utf8', maxBuffer: OUTPUT_LIMIT_BYTES } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, args, options);
  const output = stdout + stderr;
  const problems = problemsIn(output, project);
  // The compiler failed without naming a file, e.g. out of memory.
  if (status !== 0 && problems.length === 0)
    problems.push({ path: config, message: output.trim().split('\n').slice(0, 5).join(' ') || 'tsc failed' });
  return { checked: true, detail: `TypeScript ${version}`, problems };
}

/** Parses `tools/x.ts(3,7): error TS2322: ...`, and problems of the configuration, which have no position. */
function problemsIn(output: string, project: string): ProjectProblem[] {
  return [...output.matchAll(/^(?:(.+)\((\d+),(\d+)\): )?error (TS\d+: .+)$/gm)].map(
    ([, file, line, column, message]) => ({
      path: resolve(project, file ?? 'tsconfig.json'),
      ...(file ? { line: Number(line), column: Number(column) } : {}),
      message: message!,
    }),
  );
}

/** Processor time, which a busy machine doesn't use up. */
const LIMIT_SECONDS = 20;

/** Ends the process, since its own thread is blocked. */
const WATCHDOG = `
const { parentPort } = require('node:worker_threads');
const usedMs = () => process.cpuUsage().user / 1000;
let [file, startMs] = [];
parentPort.on('message', (path) => ([file, startMs] = [path, usedMs()]));
setInterval(() => {
  if (!file || usedMs() - startMs < ${LIMIT_SECONDS * 1000}) return;
  require('node:fs').writeSync(1, file + ': the file is still being loaded after ${LIMIT_SECONDS} s of work; is there an endless loop at its top? Do such work in a function\\n');
  process.kill(process.pid, 'SIGKILL');
}, 500);`;

class CheckedModules extends ProjectModules {
  readonly #watchdog = new Worker(WATCHDOG, { eval: true });

  constructor() {
    super();
    this.#watchdog.unref();
  }

  override async import(path: string): Promise<unknown> {
    this.#watchdog.postMessage(path);
    try {
      return await super.import(path);
    } finally {
      this.#watchdog.postMessage(undefined);
    }
  }
}
