/**
 * The modules that a bundle of workflows begins with. A run evaluates the file of its own type alone, and modules without state
 * are evaluated once per thread: Temporal's sandbox evaluates every other module again for each run.
 */
import { relative } from 'node:path';
import { CODE_ROOT } from '../platform/project.js';
import { pathOf, type Compilation } from './bundle-graph.js';

/** Literals in the two modules, replaced once the modules of the bundle are known. */
const FILE_OF_EXPORT = '"longhaul: index of the file that has an export"';
const SHARED_MODULES = '"longhaul: IDs of the shared modules"';

/** Global variable of a sandbox whose worker has no version. */
const UNVERSIONED = '__LONGHAUL_UNVERSIONED__';

/** Rooms whose modules have no state, and no objects that anybody changes: shared modules are frozen. */
const SHARED_ROOMS = /^(operations|pipelines|mailbox(?!\/workflows))\//;

/** Packages whose modules are shared: those that Longhaul's validator and its signatures use. */
const SHARED_PACKAGES = /\/node_modules\/(@cfworker\/json-schema|re2js|@noble\/hashes)\//;

/** Code of a CommonJS module with the exports of all files; a file is evaluated when one of its exports is read. */
export function entryCode(paths: readonly string[]): string {
  const files = paths.map((path) => `  () => require(${JSON.stringify(path)}),\n`).join('');
  return `const files = [\n${files}];
const fileOf = new Map(Object.entries(${FILE_OF_EXPORT}));
// A worker without a version must not give Temporal the behaviour that a version has.
const unversioned = (options) => ({ ...options, versioningBehavior: undefined });
const optionsOf = ({ workflowDefinitionOptions: options }) =>
  typeof options === 'function' ? () => unversioned(options()) : unversioned(options);
const withoutBehavior = (workflow) =>
  Object.assign((...args) => workflow(...args), workflow, { workflowDefinitionOptions: optionsOf(workflow) });
module.exports = new Proxy({}, {
  get: (_, name) => {
    const workflow = files[fileOf.get(name)]?.()[name];
    const isPlain = !globalThis.${UNVERSIONED} || !workflow?.workflowDefinitionOptions;
    return isPlain ? workflow : withoutBehavior(workflow);
  },
});
`;
}

/** Code of a bundle for a worker without a version. */
export function unversionedCode(code: string): string {
  // In the first line, so that the bundle's source map holds.
  return `globalThis.${UNVERSIONED} = true; ${code}`;
}

/** Code of a CommonJS module that evaluates the shared modules. */
export const PRELOAD_CODE = `for (const id of ${SHARED_MODULES}) __webpack_require__(id);\n`;

/**
 * Fills in what the two modules need to know of the compiled ones.
 *
 * @param fileOf exported name -> index of its file in the paths of {@link entryCode}
 */
export function completeBundle(
  code: string,
  compilation: Compilation,
  fileOf: Readonly<Record<string, number>>,
): string {
  const shared = [...compilation.modules]
    .filter((module) => isShared(pathOf(module)))
    .map((module) => compilation.chunkGraph.getModuleId(module as never))
    // Modules that others re-export from have no code in the bundle.
    .filter((id) => id !== null);
  return fill(fill(code, FILE_OF_EXPORT, fileOf), SHARED_MODULES, shared);
}

function isShared(path: string | undefined): boolean {
  if (path === undefined) return false;
  return SHARED_PACKAGES.test(path) || SHARED_ROOMS.test(relative(CODE_ROOT, path));
}

function fill(code: string, literal: string, value: unknown): string {
  const parts = code.split(literal);
  if (parts.length !== 2)
    throw new Error(`the bundle has ${literal} ${parts.length - 1} times; expected once`);
  return parts.join(JSON.stringify(value));
}
