/**
 * The tools that a server offers: those of code, loaded once, and pipelines, which are files that people edit while it
 * runs. Pipelines are looked at again whenever tools are listed or called; a file that can't be used takes away its own
 * tool and no other.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { MAILBOX_TOOL_NAMES } from '../operations/mailbox-tools.js';
import type { Tool } from '../operations/tool.js';
import { parsePipelineFile } from '../pipelines/file.js';
import { formatProblem } from '../pipelines/parse.js';
import { pipelineTool } from '../pipelines/tool.js';
import { SettingsError, type Settings } from './config.js';
import type { Logger } from './log.js';
import { loadTools } from './project.js';

interface PipelineFile {
  /** Time of the last change and size: tells an edit. */
  version: string;
  /** Name under which callers will look for it. */
  name: string;
  tool?: Tool;
  /** Why it can't be used, a line for each problem. */
  problems: string[];
}

export class Tools {
  #files = new Map<string, PipelineFile>();
  #pipelines = new Map<string, Tool>();

  constructor(
    private readonly ofCode: ReadonlyMap<string, Tool>,
    private readonly folders: string[],
    private readonly logger: Pick<Logger, 'warn' | 'info'>,
    /** Are the mailbox's tools offered beside these? */
    readonly hasMailbox: boolean = false,
  ) {
    this.refresh();
  }

  /** The tool as it was when tools were last listed or called. */
  get(name: string): Tool | undefined {
    return this.ofCode.get(name) ?? this.#pipelines.get(name);
  }

  /** Names of all tools there are now. */
  keys(): string[] {
    return this.values().map(({ name }) => name);
  }

  /** All tools there are now. */
  values(): Tool[] {
    this.refresh();
    return [...this.ofCode.values(), ...this.#pipelines.values()];
  }

  /** Why there is no tool of this name, when a file that should make it can't be used. */
  problemOf(name: string): string | undefined {
    const file = [...this.#files.values()].find((one) => one.name === name && !one.tool);
    return file?.problems.join('\n');
  }

  /** Reads the pipelines that have changed since the last time. */
  refresh(): void {
    const before = this.#files;
    this.#files = new Map();
    for (const path of this.folders.flatMap(pipelinePaths)) {
      const version = versionOf(path);
      if (version === undefined) continue;
      const known = before.get(path);
      this.#files.set(path, known?.version === version ? known : { version, ...readPipeline(path) });
    }
    const hasChanged =
      this.#files.size !== before.size ||
      [...this.#files].some(([path, { version }]) => before.get(path)?.version !== version);
    if (hasChanged) this.#takeUp(before);
  }

  #takeUp(before: ReadonlyMap<string, PipelineFile>): void {
    this.#pipelines = new Map();
    for (const [path, file] of this.#files) {
      if (file.tool) {
        const { name } = file.tool;
        if (this.hasMailbox && isOfMailbox(name)) {
          file.problems = [`${path}: ${nameTaken(name)}`];
          delete file.tool;
        } else if (this.get(name)) {
          file.problems = [`${path}: there is a tool "${name}" already`];
          delete file.tool;
        } else this.#pipelines.set(name, file.tool);
      }
      if (file.problems.length > 0 && before.get(path)?.version !== file.version)
        this.logger.warn({ path, problems: file.problems }, 'a pipeline can not be used');
    }
  }
}

/** @throws SettingsError when a tool's code can't be loaded, or its name is one of the mailbox's; a pipeline that can't be used is only logged */
export async function createTools(settings: Settings, logger: Pick<Logger, 'warn' | 'info'>): Promise<Tools> {
  const ofCode = await loadTools(settings);
  const taken = settings.mailbox ? [...ofCode.keys()].find(isOfMailbox) : undefined;
  if (taken !== undefined) throw new SettingsError(nameTaken(taken));
  return new Tools(ofCode, settings.pipelineFolders, logger, settings.mailbox);
}

function isOfMailbox(name: string): boolean {
  return (MAILBOX_TOOL_NAMES as readonly string[]).includes(name);
}

function nameTaken(name: string): string {
  return `tool "${name}": the mailbox has a tool of this name; rename one, or switch the mailbox off (LONGHAUL_MAILBOX)`;
}

function pipelinePaths(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /\.ya?ml$/.test(name))
    .sort()
    .map((name) => join(folder, name));
}

/** Undefined when the file has just gone. */
function versionOf(path: string): string | undefined {
  try {
    const { mtimeMs, size, ino } = statSync(path);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return undefined;
  }
}

function readPipeline(path: string): Omit<PipelineFile, 'version'> {
  const name = basename(path)
    .replace(/\.ya?ml$/, '')
    .replaceAll('-', '_');
  const { pipeline, problems } = parsePipelineFile(path);
  if (!pipeline) return { name, problems: problems.map(formatProblem) };
  return { name: pipeline.name, tool: pipelineTool(pipeline), problems: [] };
}
