import { readdirSync, existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { EXIT } from '../../client/exit-codes.js';
import { print, printJson } from '../../console.js';
import { CommandFailure } from '../../failure.js';
import { settingsOf } from '../../settings-flags.js';
import { shortestPath } from '../../shortest-path.js';

export function define(command: Command): void {
  command.argument('[files...]').option('--json', 'print JSON, for programs');
  command.action(async (operands: string[]) => {
    const { json } = command.opts<{ json?: boolean }>();
    const files: Linted[] = [];
    // Sequential: a file loaded twice concurrently would be evaluated twice.
    for (const path of await filesOf(command, operands)) files.push(await lint(path));
    const ok = files.every((file) => file.findings.length === 0);
    if (json) printJson({ ok, files });
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
    throw new CommandFailure(`no file of a tool or pipeline in ${operands.join(', ')}`, EXIT.usage);
  }
  const settings = await settingsOf(command);
  const { filesOf: codeOf } = await import('../../../platform/project/index.js');
  const { yamlFolders, yamlPaths } = await import('../../../platform/project/tools.js');
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

function lint(path: string): Promise<Linted> {
  return /\.ya?ml$/i.test(path) ? lintYaml(path) : lintTool(path);
}

async function lintYaml(file: string): Promise<Linted> {
  const { isToolFile, parseToolFile } = await import('../../../external-workflows/parse.js');
  const { parsePipelineFile } = await import('../../../pipelines/parse.js');
  const { value, problems, gaps } = isToolFile(file) ? parseToolFile(file) : parsePipelineFile(file);
  const findings = [...problems, ...gaps].map(({ line, column, message }) => ({ line, column, message }));
  return { file, ...(value && 'name' in value ? { tool: value.name } : {}), findings };
}

async function lintTool(file: string): Promise<Linted> {
  const { loadTool } = await import('../../../platform/project/code.js');
  const { ITEMS } = await import('../../../operations/documentation/items.js');
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
  for (const { line, column, message } of findings)
    print(`${[file, line, column].filter((part) => part !== undefined).join(':')}: ${message}`);
}
