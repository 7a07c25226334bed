/** What keeps workflows from being bundled, in a line for each problem: the bundler's own report goes on for pages. */
import { relative } from 'node:path';
import { CODE_ROOT } from '../platform/project.js';

interface Problem {
  message: string;
  module?: unknown;
}

/** What of a finished webpack compilation is looked at. */
interface Compilation {
  errors: Problem[];
  moduleGraph: { getIssuer(module: never): unknown };
}

/** The problems of a compilation, each with the file that it is in. */
export function problemsOf({ errors, moduleGraph }: Compilation): string[] {
  const unusable = new Map<string, string[]>();
  const others: string[] = [];
  for (const { message, module } of errors) {
    const name = /UnhandledSchemeError: Reading from "([^"]+)"/.exec(message)?.[1];
    if (!name) {
      others.push(conflictOf(message) ?? inFile(module) + oneLine(message));
      continue;
    }
    let importer = moduleGraph.getIssuer(module as never);
    while (pathOf(importer)?.startsWith(CODE_ROOT)) importer = moduleGraph.getIssuer(importer as never);
    const where = inFile(importer);
    unusable.set(where, [...(unusable.get(where) ?? []), name]);
  }
  return [...[...unusable].map(([where, names]) => where + cantImport(names)), ...others];
}

/** Two workflow files that export the same name. */
function conflictOf(message: string): string | undefined {
  const [, second, name, first] = STAR_CONFLICT.exec(message) ?? [];
  return name && `${second}: there is an export "${name}" already, in ${first}`;
}

const STAR_CONFLICT =
  /module '(.+)' contains conflicting star exports for the name '(.+)' with .* module '(.+)'/;

function pathOf(module: unknown): string | undefined {
  return (module as { resource?: string } | null | undefined)?.resource;
}

function inFile(module: unknown): string {
  const path = pathOf(module);
  return path ? `${relative(process.cwd(), path)}: ` : '';
}

/** The problem that the SDK's bundler itself found, in a line. */
export function problemOf(error: Error): string {
  const modules = [...error.message.matchAll(/^ +- '(.+)'$/gm)].map(([, name]) => name!);
  return modules.length ? cantImport(modules) : oneLine(error.message);
}

function cantImport(modules: string[]): string {
  const names = modules.map((name) => JSON.stringify(name)).join(', ');
  return `a workflow can't import ${names}; do that work in an activity, and import its types only (import type)`;
}

/** Syntax errors come as a picture of the code: what is wrong and where is kept. */
function oneLine(message: string): string {
  const what = /^(?:Error:)?\s*[x×]\s+(.+)$/m.exec(message)?.[1];
  const where = /,-\[(.+)\]/.exec(message)?.[1];
  if (what && where) return `${what} (${where})`;
  return message
    .split(/\n\s*(?:at |resolve )/)[0]!
    .replaceAll(/\s+/g, ' ')
    .trim();
}
