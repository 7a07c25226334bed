/**
 * The first modules of a bundle. A run evaluates only the file of its own type, and modules without state are evaluated once
 * per thread. Temporal's sandbox evaluates every other module again for each run.
 */
import { relative } from 'node:path';
import { CODE_ROOT } from '../../platform/code-root.js';
import { pathOf, type Compilation } from './bundle-graph.js';

/** Placeholders in the two modules, replaced once the bundle's modules are known. */
const FILE_OF_EXPORT = '"longhaul: index of the file that has an export"';
const SHARED_MODULES = '"longhaul: IDs of the shared modules"';

/** Global variable of the sandbox, set in unversioned workers. */
const UNVERSIONED = '__LONGHAUL_UNVERSIONED__';

/** Rooms with stateless modules. Shared modules are frozen, so nobody may change their objects. */
const SHARED_ROOMS = /^(operations|pipelines|mailbox(?!\/workflows))\//;

/** Shared packages: Longhaul's validator and signatures use them. */
const SHARED_PACKAGES = /\/node_modules\/(@cfworker\/json-schema|re2js|@noble\/hashes)\//;

/** Code of a CommonJS module with the exports of all files. Reading an export evaluates its file. */
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

export function unversionedCode(code: string): string {
  // On the first line, to keep the bundle's source map valid.
  return `globalThis.${UNVERSIONED} = true; ${code}`;
}

export const PRELOAD_CODE = `for (const id of ${SHARED_MODULES}) __webpack_require__(id);\n`;

/** Fills in the placeholders of the two modules. @param fileOf exported name -> index of its file in the paths of {@link entryCode} */
export function completeBundle(
  code: string,
  compilation: Compilation,
  fileOf: Readonly<Record<string, number>>,
): string {
  const shared = [...compilation.modules]
    .filter((module) => isShared(pathOf(module)))
    .map((module) => compilation.chunkGraph.getModuleId(module as never))
    // Modules that only re-export have no code in the bundle.
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
