/** The project's workflow code as the bundler parses it: syntax trees, with places in the files as they were written. */
import { SourceMap, type SourceMapPayload } from 'node:module';
import { isProjectFile } from '../../platform/project/index.js';
import type { ProjectProblem } from '../../platform/project/problems.js';
import type { WebpackCompiler } from '../../worker/versions/compile-bundle.js';

/** A node of an ESTree. */
export interface Node {
  type: string;
  /** Positions in the text that the bundler parses. */
  range?: [from: number, to: number];
  [field: string]: unknown;
}

export interface ParsedFile {
  path: string;
  program: Node;
  /** Names that the file doesn't declare and that Temporal's sandbox lacks. */
  foreign: { name: string; node: Node }[];
  problemAt: (node: Node, message: string) => ProjectProblem;
}

/** Globals of Node.js and browsers without a counterpart in Temporal's sandbox. */
const FOREIGN = [
  'process Buffer fetch Headers Request Response FormData Blob File WebSocket XMLHttpRequest EventSource',
  'crypto performance setInterval clearInterval setImmediate clearImmediate structuredClone queueMicrotask atob btoa',
  'MessageChannel BroadcastChannel Event EventTarget navigator localStorage window document FinalizationRegistry WeakRef',
].flatMap((line) => line.split(' '));

interface Parser {
  hooks: {
    program: { tap(name: string, call: (program: Node) => void): void };
    typeof: { for(name: string): { tap(name: string, call: () => true): void } };
    expression: { for(name: string): { tap(name: string, call: (node: Node) => void): void } };
  };
  state: {
    module: {
      resource?: string;
      originalSource(): { map(): SourceMapPayload | null; source(): string | Buffer } | null;
    };
  };
}

export class ParsedWorkflows {
  readonly #files = new Map<string, ParsedFile>();

  get files(): ParsedFile[] {
    return [...this.#files.values()];
  }

  readonly plugin = (compiler: WebpackCompiler): void => {
    compiler.hooks.normalModuleFactory.tap('longhaul', ({ hooks }) => {
      for (const type of ['javascript/auto', 'javascript/esm', 'javascript/dynamic'] as const)
        hooks.parser.for(type).tap('longhaul', (parser) => this.#read(parser as unknown as Parser));
    });
  };

  #read(parser: Parser): void {
    const { hooks } = parser;
    hooks.program.tap('longhaul', (program) => {
      const { module } = parser.state;
      const path = module.resource;
      if (path === undefined || !isProjectFile(path)) return;
      const source = module.originalSource();
      const map = source?.map();
      const text = { code: String(source?.source() ?? ''), places: map ? new SourceMap(map) : undefined };
      const problemAt = (node: Node, message: string) => ({ path, ...placeOf(node, text), message });
      this.#files.set(path, { path, program, foreign: [], problemAt });
    });
    for (const name of FOREIGN) {
      // A test whether it is there is no use of it.
      hooks.typeof.for(name).tap('longhaul', () => true);
      hooks.expression.for(name).tap('longhaul', (node) => {
        this.#files.get(parser.state.module.resource ?? '')?.foreign.push({ name, node });
      });
    }
  }
}

/** @param places map of the code to the file; undefined if they are the same */
function placeOf(
  { range: [from] = [0, 0] }: Node,
  { code, places }: { code: string; places: SourceMap | undefined },
): Pick<ProjectProblem, 'line' | 'column'> {
  const lines = code.slice(0, from).split('\n');
  const [line, column] = [lines.length - 1, lines.at(-1)!.length];
  const found = places?.findEntry(line, column);
  if (found && 'originalLine' in found)
    return { line: found.originalLine + 1, column: found.originalColumn + 1 };
  return { line: line + 1, column: column + 1 };
}

/** Calls `visit` for each node, with its parents, the nearest first. */
export function walk(node: Node, visit: (node: Node, parents: Node[]) => void, parents: Node[] = []): void {
  visit(node, parents);
  for (const value of Object.values(node))
    for (const child of Array.isArray(value) ? (value as unknown[]) : [value])
      if (isNode(child)) walk(child, visit, [node, ...parents]);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';
}

/** The name that an expression calls, `proxyActivities` for `workflow.proxyActivities(...)`. */
export function calledName(node: unknown): string | undefined {
  if (!isNode(node) || node.type !== 'CallExpression') return undefined;
  const callee = node['callee'] as Node;
  return nameOf(callee.type === 'MemberExpression' ? callee['property'] : callee);
}

export function nameOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node.type === 'Identifier') return node['name'] as string;
  return node.type === 'Literal' ? String(node['value']) : undefined;
}

export function propertiesOf(node: Node): Node[] {
  const properties = (node['properties'] ?? []) as Node[];
  return properties.filter(({ type }) => type === 'Property');
}
