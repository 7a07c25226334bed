/**
 * Bundle of the workflow code that Temporal's sandbox runs: the runtime and all workflows. Longhaul's build bundles the shipped
 * workflows. A project's bundle is made at the worker's start and after edits, and reused until a file changes.
 */
import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type Settings, SettingsError, settingsToEnvironment } from '../../platform/settings/index.js';
import { CODE_ROOT } from '../../platform/code-root.js';
import { filesOf, isProjectFile, projectFilesOf } from '../../platform/project/index.js';
import { ProjectError, type ProjectProblem } from '../../platform/project/problems.js';
import { writeFileAtomically } from '../../platform/home/atomic-files.js';
import {
  buildIdOf,
  digestOf,
  type BundleDigests,
  compileBundle,
  type CompiledBundle,
  type CompileOptions,
} from './compile-bundle.js';
import type { BundleProblem } from './bundle-problems.js';
import type { CodeVersions, SourceTexts } from './kept-code.js';
import { builtProgram } from '../../platform/home/program.js';

const SHIPPED_BUNDLE = join(CODE_ROOT, 'workflow-bundle.js');

/** Stored beside the bundle. */
interface BundleInfo extends BundleDigests, CodeVersions, SourceTexts {
  /** Source files: path -> last change in epoch milliseconds; 0 for a file that changed during bundling or was missing. */
  ingredients: Record<string, number>;
  /** Problems of files that were left out. */
  problems: ProjectProblem[];
}

export interface WorkflowBundle extends BundleInfo {
  codePath: string;
  /** Equal for bundles of the same code on every machine. */
  buildId: string;
}

export interface BundleOptions {
  /** Leaves out broken files, unless none of the project's files would remain. Default: false. */
  leavesOut?: boolean;
  /**
   * Bundles the up-to-date bundle's files again, with copies of kept code for some exports: exported name -> path of the copy.
   * The result isn't reused. Default: none.
   */
  kept?: Record<string, string>;
  /** Plugin of the bundler that reads the code along. Default: none. */
  inspect?: CompileOptions['inspect'];
}

export class BundleError extends ProjectError {
  constructor(
    problems: ProjectProblem[],
    /** Paths whose changes may fix it. */
    readonly watched: string[],
  ) {
    super(`the workflows can't be bundled: ${problems.map(inOneLine).join('; ')}`, problems);
  }
}

/** The child sends exactly one. */
export type BundleMessage =
  { bundle: WorkflowBundle } | { problems: ProjectProblem[]; watched: string[] } | { failure: string };

/** {@link bundleWorkflows} in a child process, so the worker's heartbeats continue and the bundler's memory is freed. @throws BundleError */
export async function bundleInChildProcess(
  settings: Settings,
  options: BundleOptions = {},
): Promise<WorkflowBundle> {
  const stored = storedBundle(settings, options);
  if (stored) return stored;
  const child = fork(builtProgram('bundle-workflows'), [JSON.stringify(options)], {
    env: { ...process.env, ...settingsToEnvironment(settings) },
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const [message] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code, signal]) => [{ failure: `the bundler ended with ${code ?? signal}` }]),
  ])) as [BundleMessage];
  if (child.connected) child.disconnect();
  if ('bundle' in message) return message.bundle;
  if ('problems' in message) throw new BundleError(message.problems, message.watched);
  throw new SettingsError(`the workflows can't be bundled: ${message.failure}`);
}

/** The bundle for these settings. Makes one if none is up to date, which takes 2 seconds. @throws BundleError */
export async function bundleWorkflows(
  settings: Settings,
  options: BundleOptions = {},
): Promise<WorkflowBundle> {
  const { leavesOut = false, kept, inspect } = options;
  if (kept) return bundleWithKept(settings, kept);
  const stored = storedBundle(settings, options);
  if (stored) return stored;
  const { entryPath, bundlePath, infoPath } = pathsOf(settings);
  const cache = join(settings.home, 'cache');
  mkdirSync(cache, { recursive: true });
  const own = projectFilesOf('workflows', settings);
  const startedMs = Date.now();
  const paths = filesOf('workflows', settings);
  let compiled = await compile(settings, paths, { entryPath, inspect });
  // The entry is written each time, so it doesn't count.
  const used = new Set(compiled.used.filter((path) => !path.startsWith(cache)));
  const missing = compiled.code === undefined ? compiled.missing.filter(isProjectFile) : [];
  const problems: BundleProblem[] = [];
  while (compiled.code === undefined) {
    // A file was deleted or renamed meanwhile: start over.
    if (!paths.every(existsSync)) return bundleWorkflows(settings, { leavesOut });
    problems.push(...compiled.problems);
    const usable = leavesOut ? withoutProblems(compiled) : [];
    if (!usable.some((path) => own.includes(path))) throw new BundleError(problems, [...used, ...missing]);
    compiled = await compile(settings, usable, {
      entryPath: entryPath.replace(/\.cjs$/, '-usable.cjs'),
      inspect,
    });
  }
  const info: BundleInfo = {
    ...contentsOf(compiled, settings.project),
    ingredients: Object.fromEntries([
      ...[...used].filter(isFile).map((path) => [path, changedAt(path) >= startedMs ? 0 : changedAt(path)]),
      ...missing.map((path) => [path, 0]),
    ]) as Record<string, number>,
    problems: problems.map(({ isConflict: _isConflict, ...problem }) => problem),
  };
  writeFileAtomically(bundlePath, compiled.code);
  writeFileAtomically(infoPath, JSON.stringify(info));
  return { ...info, codePath: bundlePath, buildId: buildIdOf(info) };
}

function compile(
  settings: Settings,
  paths: readonly string[],
  options: Pick<CompileOptions, 'entryPath' | 'kept' | 'inspect'>,
): Promise<CompiledBundle> {
  const { project } = settings;
  return compileBundle(paths, { activityFiles: projectFilesOf('activities', settings), project, ...options });
}

/** An up-to-date bundle that serves this request. */
function storedBundle(settings: Settings, { leavesOut, kept }: BundleOptions): WorkflowBundle | undefined {
  const stored = kept ? undefined : upToDateBundle(settings);
  return stored && (leavesOut || stored.problems.length === 0) ? stored : undefined;
}

export function upToDateBundle(settings: Settings): WorkflowBundle | undefined {
  const { bundlePath, infoPath } = pathsOf(settings);
  if (!existsSync(bundlePath) || !existsSync(infoPath)) return undefined;
  const info = JSON.parse(readFileSync(infoPath, 'utf8')) as BundleInfo;
  const isUpToDate =
    bundlePath === SHIPPED_BUNDLE ||
    Object.entries(info.ingredients).every(([path, at]) => existsSync(path) && changedAt(path) === at);
  return isUpToDate ? { ...info, codePath: bundlePath, buildId: buildIdOf(info) } : undefined;
}

/** @throws BundleError; Error if files have changed since the last bundle was made */
async function bundleWithKept(settings: Settings, kept: Record<string, string>): Promise<WorkflowBundle> {
  const bundle = upToDateBundle(settings);
  if (!bundle) throw new Error('files have changed meanwhile');
  const usable = Object.values(bundle.paths);
  const paths = filesOf('workflows', settings).filter(
    (path) => !isProjectFile(path) || usable.includes(path),
  );
  const { entryPath } = pathsOf(settings);
  const compiled = await compile(settings, paths, {
    entryPath: entryPath.replace(/\.cjs$/, '-kept.cjs'),
    kept,
  });
  if (upToDateBundle(settings)?.digest !== bundle.digest) throw new Error('files have changed meanwhile');
  if (compiled.code === undefined) throw new BundleError(compiled.problems, []);
  const codePath = entryPath.replace(/\.cjs$/, '-kept.bundle.js');
  writeFileAtomically(codePath, compiled.code);
  return { ...bundle, codePath };
}

/** Bundles the shipped workflows, for the build. @returns paths of all files in the bundle */
export async function bundleShippedWorkflows(settings: Settings): Promise<string[]> {
  const entryPath = join(CODE_ROOT, 'workflow-entry.cjs');
  const compiled = await compile(settings, filesOf('workflows', settings), { entryPath });
  // They name this machine's folders, and would be packed.
  for (const path of compiled.entries) rmSync(path);
  if (compiled.code === undefined) throw new BundleError(compiled.problems, []);
  writeFileAtomically(SHIPPED_BUNDLE, compiled.code);
  const info: BundleInfo = {
    ...contentsOf(compiled, settings.project),
    ingredients: {},
    problems: [],
  };
  writeFileAtomically(infoPathOf(SHIPPED_BUNDLE), JSON.stringify(info));
  return compiled.used;
}

function pathsOf(settings: Settings): { entryPath: string; bundlePath: string; infoPath: string } {
  const files = filesOf('workflows', settings);
  const isShippedOnly = settings.shippedTools && files.every((path) => path.startsWith(CODE_ROOT));
  const digest = createHash('sha256').update(files.join('\n')).digest('hex').slice(0, 16);
  const name = join(settings.home, 'cache', `workflows-${digest}`);
  const bundlePath = isShippedOnly && existsSync(SHIPPED_BUNDLE) ? SHIPPED_BUNDLE : `${name}.bundle.js`;
  // `.cjs`, so a package.json above the home can't change the module type.
  return { entryPath: `${name}.cjs`, bundlePath, infoPath: infoPathOf(bundlePath) };
}

function infoPathOf(bundlePath: string): string {
  return bundlePath.replace(/\.js$/, '.json');
}

/** Files that don't depend on a broken file; empty after a name conflict or a problem without a file. */
function withoutProblems({ problems, files }: CompiledBundle): string[] {
  if (problems.some(({ isConflict, path }) => isConflict || !path)) return [];
  return [...files].flatMap(([path, file]) =>
    problems.some((problem) => file.files.has(problem.path)) ? [] : [path],
  );
}

function contentsOf(
  { digests, files: bundled }: CompiledBundle,
  project: string,
): BundleDigests & CodeVersions & SourceTexts {
  const exports: Record<string, string> = {};
  const paths: Record<string, string> = {};
  const files: Record<string, string[]> = {};
  const sources: Record<string, string> = {};
  // It sets the syntax of the project's .js files.
  const packagePath = join(project, 'package.json');
  for (const [path, file] of bundled) {
    const digest = digestOf(file.sources, project);
    for (const name of file.exports) exports[name] = digest;
    // A shipped file.
    if (file.sources.size === 0) continue;
    for (const name of file.exports) paths[name] = path;
    Object.assign(sources, Object.fromEntries(file.sources));
    sources[packagePath] ??= existsSync(packagePath) ? readFileSync(packagePath, 'utf8') : '{}';
    files[digest] = [...new Set([...file.sources.keys(), packagePath])];
  }
  return { ...digests!, exports, paths, files, sources };
}

function inOneLine({ path, message }: ProjectProblem): string {
  return path ? `${relative(process.cwd(), path)}: ${message}` : message;
}

function isFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile();
}

function changedAt(path: string): number {
  return statSync(path).mtimeMs;
}
