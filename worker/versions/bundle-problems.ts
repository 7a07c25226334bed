/** Problems that prevent the bundling of workflows, in one line each: the bundler's own report takes pages. */
import { placeOfName, placeOfText, type ProjectProblem } from '../../platform/project/problems.js';
import { disallowedModules } from '../../platform/temporal/internal/sandbox-modules.js';
import { importsOf, pathOf, projectImportOf, type BundledFile, type Compilation } from './bundle-graph.js';

/** `isConflict`: two files export the same name, so neither can be left out. */
export type BundleProblem = ProjectProblem & { isConflict?: boolean };

/** The problems of a compilation, each with its file. @param activityFiles files that workflows may import types from, but no values */
export function problemsOf(compilation: Compilation, activityFiles: readonly string[]): BundleProblem[] {
  const activities = new Set(activityFiles);
  const others = compilation.errors
    .filter(({ message }) => !FORBIDDEN_SCHEME.test(message))
    .map(({ message, module }) => otherProblem(pathOf(module), message));
  return [
    ...activityImports(compilation, activities),
    ...forbiddenImports(compilation),
    ...others,
    // An activity file's own imports are fine: the mistake is importing that file.
  ].filter(({ path }) => !activities.has(path));
}

/** Webpack's error for imports such as `node:fs`. */
const FORBIDDEN_SCHEME = /UnhandledSchemeError: Reading from "/;

/** Imports that the sandbox forbids. Those inside a package are attributed to the project's import of the package. */
function forbiddenImports(compilation: Compilation): BundleProblem[] {
  const names = new Map<string, { path: string; request: string; needs: Set<string> }>();
  for (const { request, module } of importsOf(compilation)) {
    if (!request.startsWith('node:') && !isForbidden(request)) continue;
    const author = projectImportOf(compilation, module, request);
    if (!author) continue;
    const key = `${author.path}\n${author.request}`;
    if (!names.has(key)) names.set(key, { ...author, needs: new Set() });
    names.get(key)!.needs.add(request);
  }
  return [...names.values()].map(({ path, request, needs }) => cantImport(path, request, [...needs]));
}

function isForbidden(request: string): boolean {
  return disallowedModules.some((name) => request === name || request.startsWith(`${name}/`));
}

function activityImports(compilation: Compilation, activities: ReadonlySet<string>): BundleProblem[] {
  return importsOf(compilation)
    .filter(({ from, to }) => to !== undefined && activities.has(to) && !activities.has(from))
    .map(({ from, request }) => ({
      path: from,
      ...placeOfText(from, request, (line) => !/^\s*import\s+type\b/.test(line)),
      message: `a workflow can't import values of activities ("${request}"): they run outside of Temporal's sandbox; write import type * as activities from '${request}', and call them through proxyActivities<typeof activities>()`,
    }));
}

/** Names that two workflow files export with different declarations. */
export function conflictsOf(files: ReadonlyMap<string, BundledFile>): BundleProblem[] {
  const first = new Map<string, { path: string; declaration: string }>();
  const conflicts: BundleProblem[] = [];
  for (const [path, { declarations }] of files)
    for (const [name, declaration] of declarations) {
      const other = first.get(name) ?? { path, declaration };
      first.set(name, other);
      if (other.declaration === declaration) continue;
      const message = `there is already an export "${name}", in ${other.path}`;
      conflicts.push({ path, ...placeOfName(path, name), message, isConflict: true });
    }
  return conflicts;
}

export function problemOfSdk(error: Error): BundleProblem {
  const names = [...error.message.matchAll(/^ +- '(.+)'$/gm)].map(([, name]) => name!);
  return names.length > 0 ? cantImport('', names[0]!, names) : { path: '', message: oneLine(error.message) };
}

function cantImport(path: string, request: string, needs: string[]): BundleProblem {
  const others = needs.filter((name) => name !== request).map((name) => JSON.stringify(name));
  const more = others.length > 2 ? ` and ${others.length - 2} more modules` : '';
  const needed = others.length > 0 ? `, which needs Node.js: ${others.slice(0, 2).join(', ')}${more}` : '';
  return {
    path,
    ...placeOfText(path, request),
    message: `a workflow can't import ${JSON.stringify(request)}${needed}; do that work in an activity, and import its types only (import type)`,
  };
}

function otherProblem(path = '', message: string): BundleProblem {
  const text = oneLine(message);
  const [, line, column] = /\(.+:(\d+):(\d+)\)$/.exec(text) ?? [];
  const request = /Can't resolve '([^']+)'/.exec(text)?.[1];
  const place =
    line && column
      ? { line: Number(line), column: Number(column) }
      : request === undefined
        ? undefined
        : placeOfText(path, request);
  return { path, ...place, message: text };
}

/** Reduces a syntax error with a code frame to message and place. */
function oneLine(message: string): string {
  const what = /^(?:Error:)?\s*[x×]\s+(.+)$/m.exec(message)?.[1];
  const where = /,-\[(.+)\]/.exec(message)?.[1];
  if (what && where) return `${what} (${where})`;
  return message
    .split(/\n\s*(?:at |resolve )/)[0]!
    .replaceAll(/\s+/g, ' ')
    .trim();
}
