import { readdirSync, existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { isToolFile, parseToolFile } from '../../../external-workflows/parse.js';
import { ITEMS } from '../../../operations/documentation/items.js';
import { parsePipelineFile } from '../../../pipelines/parse.js';
import { loadTool } from '../../../platform/project/code.js';
import { filesOf as codeOf } from '../../../platform/project/index.js';
import { formatProjectProblem } from '../../../platform/project/problems.js';
import { yamlFolders, yamlPaths } from '../../../platform/project/tools.js';
import { addJsonFlag, isJson } from '../../client/command.js';
import { EXIT } from '../../client/exit-codes.js';
import { usageFailure } from '../../client/failures.js';
import { print, printJson, shortestPath } from '../../console.js';
import { settingsOf } from '../../settings-flags.js';

export function define(command: Command): void {
  addJsonFlag(command).argument(
    '[files...]',
    'files of tools and pipelines, or folders (default: all of the project)',
  );
  command.action(async (operands: string[]) => {
    const files: Linted[] = [];
    // Sequential: a file loaded twice concurrently would be evaluated twice.
    for (const path of await filesOf(command, operands))
      files.push(/\.ya?ml$/i.test(path) ? lintYaml(path) : await lintTool(path));
    const ok = files.every((file) => file.findings.length === 0);
    if (isJson(command)) printJson({ ok, files });
    else for (const file of files) printLinted(file);
    process.exitCode = ok ? EXIT.ok : EXIT.failed;
  });
}

interface Linted {
  file: string;
  tool?: string;
  findings: Finding[];
}

interface Finding {
  /** Line in a pipeline file, from 1. */
  line?: number;
  column?: number;
  message: string;
}

/** The operands' files, else all tools and pipelines that a server with these settings has. */
async function filesOf(command: Command, operands: string[]): Promise<string[]> {
  if (operands.length > 0) {
    const files = operands.flatMap(filesAt);
    if (files.length > 0) return files;
    throw usageFailure(`no file of a tool or pipeline in ${operands.join(', ')}`);
  }
  const settings = await settingsOf(command);
  const yaml = yamlFolders(settings).flatMap(({ path }) => yamlPaths(path));
  return [...codeOf('tools', settings), ...yaml].map(shortestPath);
}

/** A folder's files and its folders' index files, in alphabetical order. Other paths count as files, and are reported if missing. */
function filesAt(path: string): string[] {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [path];
  return readdirSync(path)
    .sort()
    .flatMap((name) => {
      const file = join(path, name);
      if (statSync(file, { throwIfNoEntry: false })?.isDirectory())
        return ['index.ts', 'index.js'].map((index) => join(file, index)).filter(existsSync);
      return /\.(ya?ml|[mc]?[jt]s)$/i.test(name) && !/\.(test|d)\.ts$/.test(name) ? [file] : [];
    });
}

function lintYaml(file: string): Linted {
  const { value, problems, gaps } = isToolFile(file) ? parseToolFile(file) : parsePipelineFile(file);
  const findings = [...problems, ...gaps].map(({ line, column, message }) => ({ line, column, message }));
  return { file, ...(value && 'name' in value ? { tool: value.name } : {}), findings };
}

async function lintTool(file: string): Promise<Linted> {
  try {
    const { name, gaps } = await loadTool(resolve(file));
    const findings = gaps.map(({ item, field, expected, got = 'missing' }) => ({
      message: `${field}: ${got}; expected ${expected} (${ITEMS[item].toLowerCase()})`,
    }));
    return { file, tool: name, findings };
  } catch (error) {
    return { file, findings: [{ message: (error as Error).message }] };
  }
}

function printLinted({ file, tool, findings }: Linted): void {
  if (findings.length === 0) print(`${file}: ok, tool ${tool}`);
  for (const finding of findings) print(formatProjectProblem({ path: file, ...finding }));
}
