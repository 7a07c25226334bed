/** Drafts a uniquely named tool for each workflow type, and writes the drafts if there is a folder for them. */
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';
import type { Settings } from '../../platform/settings/index.js';
import { filesOf } from '../../platform/project/index.js';
import { yamlFolders, yamlPaths } from '../../platform/project/tools.js';
import { toolNameOf } from '../../pipelines/yaml/yaml-file.js';
import { shortestPath } from '../console.js';
import { draftOf, type Found, type Source } from './draft.js';
import { toolNameFor } from './names.js';
import { statusCounts, taskQueues } from './runs.js';
import { isToolFile, parseToolFile } from '../../external-workflows/parse.js';
import { usageFailure } from '../client/failures.js';

/** A draft, as in `--json`. */
export interface Draft {
  tool: string;
  type: string;
  taskQueues: string[];
  /** Runs by status. */
  runs: Record<string, number>;
  /** Number of histories read. */
  histories: number;
  /** Path of its file; without a folder, the file's name. */
  file: string;
  isWritten: boolean;
  yaml: string;
}

/** @throws CommandFailure if the folder can't be written */
export function draftAll(
  found: readonly Found[],
  settings: Settings,
  { output, force = false }: { output?: string; force?: boolean },
  source: Source,
): Draft[] {
  const existing = output === undefined ? [] : existingFiles(output);
  const taken = namesOf(settings, existing, output);
  return found.map((one) => {
    const covering = existing.find(({ type }) => type === one.type);
    const tool = covering ? toolNameOf(covering.file) : toolNameFor(one.type, taken);
    taken.add(tool);
    const path = covering?.file ?? join(output ?? '', `${tool}.yaml`);
    const yaml = draftOf(tool, one, source);
    const { type, infos, observed } = one;
    const isWritten = output !== undefined && writeDraft(path, output, yaml, force);
    return {
      ...{ tool, type, taskQueues: taskQueues(infos), runs: statusCounts(infos) },
      ...{ histories: observed.histories, file: output === undefined ? path : shortestPath(path) },
      ...{ isWritten, yaml },
    };
  });
}

/** Names of the project's tools and pipelines, derived from file names. A broken file in the folder keeps its own. */
function namesOf(settings: Settings, existing: ExistingFile[], output: string | undefined): Set<string> {
  const elsewhere = yamlFolders(settings)
    .map(({ path }) => path)
    .filter((path) => output === undefined || resolve(path) !== resolve(output))
    .flatMap(yamlPaths);
  return new Set([
    ...filesOf('tools', settings).map(moduleName),
    ...elsewhere.map(toolNameOf),
    ...existing.flatMap(({ name }) => name ?? []),
  ]);
}

/** `refund` for `refund.ts` and for `refund/index.ts`. */
function moduleName(path: string): string {
  const name = basename(path, extname(path));
  return name === 'index' ? basename(dirname(path)) : name;
}

interface ExistingFile {
  file: string;
  /** Undefined if it can't be parsed. */
  name?: string;
  type?: string;
}

/** Files of tools in a folder, which may be missing. */
function existingFiles(folder: string): ExistingFile[] {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
  return yamlPaths(folder).map((file) => {
    const tool = isToolFile(file) ? parseToolFile(file).value : undefined;
    return { file, ...(tool && 'name' in tool ? { name: tool.name, type: tool.workflow } : {}) };
  });
}

/** Writes a file. @returns whether it was written. @throws CommandFailure if the folder can't be written */
function writeDraft(path: string, folder: string, text: string, replaces: boolean): boolean {
  try {
    mkdirSync(folder, { recursive: true });
    if (!replaces && existsSync(path)) return false;
    // Don't overwrite a file that was made meanwhile, either.
    writeFileSync(path, text, { flag: replaces ? 'w' : 'wx' });
    return true;
  } catch (error) {
    throw usageFailure(`--output: expected a folder that can be written; ${(error as Error).message}`);
  }
}
