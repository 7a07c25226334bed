/** The parts that are used of a finished webpack compilation, with types. */
import { existsSync, readFileSync } from 'node:fs';
import { isProjectFile } from '../../platform/project/index.js';

export interface Compilation {
  errors: { message: string; module?: unknown }[];
  modules: Iterable<unknown>;
  fileDependencies: Iterable<string>;
  missingDependencies: Iterable<string>;
  chunkGraph: { getModuleId(module: never): string | number | null };
  moduleGraph: {
    getIssuer(module: never): unknown;
    getOutgoingConnections(module: never): Iterable<{ module: unknown; dependency: unknown }>;
    getProvidedExports(module: never): string[] | true | null;
    getExportInfo(module: never, name: string): { getTarget(graph: unknown): ExportTarget | undefined };
  };
}

/** The module that a file re-exports a name from. */
interface ExportTarget {
  module: unknown;
  export?: string[];
}

interface Import {
  from: string;
  request: string;
  /** Undefined when the imported module isn't a file. */
  to: string | undefined;
  module: unknown;
}

export function pathOf(module: unknown): string | undefined {
  return (module as { resource?: string } | null | undefined)?.resource;
}

/** Every import, once per file and request. */
export function importsOf({ modules, moduleGraph }: Compilation): Import[] {
  const imports = new Map<string, Import>();
  for (const module of modules) {
    const from = pathOf(module);
    if (from === undefined) continue;
    for (const { module: imported, dependency } of moduleGraph.getOutgoingConnections(module as never)) {
      const request = (dependency as { request?: string } | null)?.request;
      if (request !== undefined && imported !== module)
        imports.set(`${from}\n${request}`, { from, request, to: pathOf(imported), module });
    }
  }
  return [...imports.values()];
}

/** The import by a file of the project that leads to this request of a module; undefined for Longhaul's own modules. */
export function projectImportOf(
  { moduleGraph }: Compilation,
  module: unknown,
  request: string,
): { path: string; request: string } | undefined {
  let asked = request;
  for (let one = module; one;) {
    const path = pathOf(one);
    if (path && isProjectFile(path)) return { path, request: asked };
    const issuer = moduleGraph.getIssuer(one as never);
    for (const { module: next, dependency } of issuer
      ? moduleGraph.getOutgoingConnections(issuer as never)
      : [])
      if (next === one) asked = (dependency as { request?: string } | null)?.request ?? asked;
    one = issuer;
  }
  return undefined;
}

export interface BundledFile {
  /** Exported names, without Temporal's fallback `default`. */
  exports: string[];
  /** Name -> where it is declared. Two files that re-export one declaration have equal values. */
  declarations: Map<string, string>;
  /** The file and everything it imports, directly or indirectly. */
  files: Set<string>;
  /** Path -> text of these files, without packages and Longhaul itself. */
  sources: Map<string, string>;
}

export function bundledFile(compilation: Compilation, path: string): BundledFile | undefined {
  const { modules, moduleGraph } = compilation;
  const root = [...modules].find((module) => pathOf(module) === path);
  if (!root) return undefined;
  const reached = new Set<unknown>([root]);
  for (const module of reached)
    for (const { module: next } of moduleGraph.getOutgoingConnections(module as never))
      if (next) reached.add(next);
  const files = new Set([...reached].map(pathOf).filter((file) => file !== undefined));
  const own = [...files].filter((file) => isProjectFile(file) && existsSync(file));
  const sources = new Map(own.map((file) => [file, readFileSync(file, 'utf8')]));
  const provided = moduleGraph.getProvidedExports(root as never);
  const exports = Array.isArray(provided) ? provided.filter((name) => name !== 'default') : [];
  const declarations = new Map(
    exports.map((name) => {
      const target = moduleGraph.getExportInfo(root as never, name).getTarget(moduleGraph);
      return [name, target ? `${pathOf(target.module)} ${target.export?.join('.')}` : `${path} ${name}`];
    }),
  );
  return { exports, declarations, files, sources };
}
