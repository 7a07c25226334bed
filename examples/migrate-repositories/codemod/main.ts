/**
 * The codemod as a program: `node codemod/run.js ORDER.json`. It has a process of its own because a type
 * checker takes seconds of CPU and much memory, and so that it can be ended. It writes the changed files, and its result to `result`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ModuleKind, ModuleResolutionKind, Project, ScriptTarget } from 'ts-morph';
import { migrateFile } from './migrate-file.js';

export interface CodemodOrder {
  folder: string;
  /** Relative to the folder. */
  files: string[];
  /** Path of the file for the result. */
  result: string;
}

export interface CodemodResult {
  /** Changed files, relative to the folder. */
  files: string[];
  changes: number;
  /** Places for a person: `FILE:LINE: REASON`. */
  left: string[];
}

const order = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as CodemodOrder;
const project = new Project({
  skipAddingFilesFromTsConfig: true,
  skipFileDependencyResolution: true,
  compilerOptions: {
    allowJs: true,
    strict: true,
    target: ScriptTarget.ESNext,
    module: ModuleKind.NodeNext,
    moduleResolution: ModuleResolutionKind.NodeNext,
    // The repository may lack Node's types, or have others, in which removed functions are missing.
    types: ['node'],
    typeRoots: [fileURLToPath(new URL('../node_modules/@types', import.meta.url))],
  },
});
for (const file of order.files) project.addSourceFileAtPath(join(order.folder, file));
const result: CodemodResult = { files: [], changes: 0, left: [] };
for (const [index, file] of order.files.entries()) {
  const { text, changes, left } = migrateFile(project.getSourceFileOrThrow(join(order.folder, file)));
  if (text !== undefined) {
    writeFileSync(join(order.folder, file), text);
    result.files.push(file);
  }
  result.changes += changes;
  result.left.push(...left.map((place) => `${file}:${place}`));
  console.log(`${index + 1} of ${order.files.length}: ${file}`);
}
writeFileSync(order.result, JSON.stringify(result));
