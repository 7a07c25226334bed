/** Imports of the test files, as esbuild finds them: types aside, through static and literal dynamic imports. */
import { readFileSync } from 'node:fs';
import { build, type Plugin } from 'esbuild';
import { globSync } from 'tinyglobby';

/** File -> files of the repository that it imports. Paths are relative to the root. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

/** All test files. */
export const testFiles = (): string[] =>
  globSync('test/**/*.test.ts', { ignore: '**/node_modules/**' }).sort();

/** An entry that imports all files: one bundle is made three times as fast as one for each file. */
const importsAll = (files: readonly string[]): Plugin => ({
  name: 'imports all test files',
  setup(bundle) {
    bundle.onResolve({ filter: /^all$/ }, () => ({ path: 'all', namespace: 'all' }));
    bundle.onLoad({ filter: /.*/, namespace: 'all' }, () => ({
      contents: files.map((path) => `import './${path}';`).join('\n'),
      resolveDir: process.cwd(),
    }));
  },
});

/** Leaves out dynamic imports of computed paths: esbuild would import every file that a template may name. */
const literalImports: Plugin = {
  name: 'literal imports only',
  setup(bundle) {
    bundle.onLoad({ filter: /\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(/\bimport\(`/g, 'import(String`'),
      loader: 'ts',
    }));
  },
};

/** Takes a second. */
export async function importGraph(files: readonly string[]): Promise<ImportGraph> {
  const { metafile } = await build({
    entryPoints: ['all'],
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    metafile: true,
    write: false,
    outdir: 'dist',
    tsconfigRaw: {},
    logLevel: 'error',
    logLimit: 5,
    plugins: [importsAll(files), literalImports],
  });
  return new Map(
    Object.entries(metafile.inputs).map(([path, { imports }]) => [path, imports.map((each) => each.path)]),
  );
}

/** The file and everything it imports, as far as `follows` lets it. */
export function closureOf(
  graph: ImportGraph,
  file: string,
  follows: (path: string) => boolean = () => true,
): Set<string> {
  const found = new Set<string>();
  const visit = (path: string) => {
    if (found.has(path) || !graph.has(path) || !follows(path)) return;
    found.add(path);
    graph.get(path)!.forEach(visit);
  };
  visit(file);
  return found;
}

/** File -> files that import it. */
export function reversed(graph: ImportGraph): ImportGraph {
  const importers = new Map<string, string[]>([...graph.keys()].map((path) => [path, []]));
  for (const [path, imports] of graph) for (const each of imports) importers.get(each)?.push(path);
  return importers;
}

/** Text of a test file and of what it imports from test/, shared support aside. */
export function textOf(graph: ImportGraph, file: string): string {
  const isNear = (path: string) => path.startsWith('test/') && !path.startsWith('test/support/');
  return [...closureOf(graph, file, isNear)].map((path) => readFileSync(path, 'utf8')).join('\n');
}

/** Modules that start processes of the stack or connect to Temporal. */
const PROCESS_MODULES =
  /^test\/support\/(test-stack|run-temporal)\.ts$|^test\/stack\/cli-process\.ts$|^stack\/temporal-server\.ts$|^@temporalio\/(worker|testing)$/;
/** Built code that a test runs or imports, and connections of a test's own. */
const BUILT_OR_CONNECTED = /resolve\(\s*'dist\b|\bdist\/bin\/longhaul\.js|\bConnection\.connect\(/;

/**
 * Whether a test file needs neither Temporal nor built code: no file of test/ that it reaches starts processes, connects to
 * Temporal, or names built code.
 */
export function isFast(
  graph: ImportGraph,
  file: string,
  read = (path: string) => readFileSync(path, 'utf8'),
): boolean {
  return [...closureOf(graph, file, (path) => path.startsWith('test/'))].every(
    (path) =>
      !graph.get(path)!.some((each) => PROCESS_MODULES.test(each)) && !BUILT_OR_CONNECTED.test(read(path)),
  );
}

export async function fastFiles(): Promise<string[]> {
  const files = testFiles();
  const graph = await importGraph(files);
  return files.filter((file) => isFast(graph, file));
}
