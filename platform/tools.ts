/**
 * The tools that a server offers: those of code, and pipelines, both of which people edit while it runs. Pipelines are
 * looked at again whenever tools are listed or called; a file that can't be used takes away its own tool and no other.
 */
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Tool } from '../operations/tool.js';
import { parsePipelineFile } from '../pipelines/file.js';
import { formatProblem } from '../pipelines/parse.js';
import { pipelineTool } from '../pipelines/tool.js';
import type { Settings } from './config.js';
import type { Logger } from './log.js';
import { formatProjectProblem } from './project-problems.js';
import { isMailboxToolName, mailboxNameConflict, CodeTools } from './code-tools.js';
import { versionOf } from './watch-files.js';
import { workerProblems } from './worker-problems.js';

interface PipelineFile {
  /** Time of the last change and size: tells an edit. */
  version: string;
  /** Name under which callers will look for it. */
  name: string;
  tool?: Tool;
  /** Why it can't be used, a line for each problem. */
  problems: string[];
  /** Why its tool isn't offered although the file is right: its name is another's. */
  conflict?: string;
}

export class Tools {
  #files = new Map<string, PipelineFile>();
  #pipelines = new Map<string, Tool>();

  constructor(
    private ofCode: ReadonlyMap<string, Tool>,
    private readonly folders: string[],
    private readonly logger: Pick<Logger, 'warn' | 'info'>,
    /** Are the mailbox's tools offered beside these? */
    readonly hasMailbox: boolean = false,
    /** Problems of what isn't a pipeline. */
    private readonly others: { of(name: string): string | undefined; all(): string[] } = {
      of: () => undefined,
      all: () => [],
    },
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
    const file = [...this.#files.values()].find((one) => one.name === name && problemsIn(one).length > 0);
    return file ? problemsIn(file).join('\n') : this.others.of(name);
  }

  /** What is wrong with files now, a line each. */
  problems(): string[] {
    this.refresh();
    return [...this.others.all(), ...[...this.#files.values()].flatMap(problemsIn)];
  }

  /** Takes other tools of code in place of those that there were. */
  replaceCode(ofCode: ReadonlyMap<string, Tool>): void {
    this.ofCode = ofCode;
    this.#takeUp(this.#files);
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
      const conflictBefore = file.conflict;
      delete file.conflict;
      if (file.tool) {
        const { name } = file.tool;
        if (this.hasMailbox && isMailboxToolName(name))
          file.conflict = `${path}: ${mailboxNameConflict(name)}`;
        else if (this.get(name)) file.conflict = `${path}: there is a tool "${name}" already`;
        else this.#pipelines.set(name, file.tool);
      }
      const isNews = before.get(path)?.version !== file.version || file.conflict !== conflictBefore;
      if (isNews)
        for (const problem of problemsIn(file))
          this.logger.warn({ path }, `a pipeline can't be used: ${problem}`);
    }
  }
}

/**
 * The tools of these settings, which follow edits from then on.
 *
 * @throws ProjectError when no file of the project's tools can be used, or two tools have one name; other files that can't be
 *   used are only logged
 */
export async function createTools(
  settings: Settings,
  logger: Pick<Logger, 'error' | 'warn' | 'info'>,
): Promise<Tools> {
  const code = await CodeTools.load(settings, logger);
  const tools = new Tools(code.tools, settings.pipelineFolders, logger, settings.mailbox, {
    of: (name) => code.problemOf(name),
    all: () => [...code.problems().map(formatProjectProblem), ...workerProblems(settings)],
  });
  code.watch(() => tools.replaceCode(code.tools));
  return tools;
}

function problemsIn({ problems, conflict }: PipelineFile): string[] {
  return conflict === undefined ? problems : [conflict];
}

function pipelinePaths(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /\.ya?ml$/.test(name))
    .sort()
    .map((name) => join(folder, name));
}

function readPipeline(path: string): Omit<PipelineFile, 'version'> {
  const name = basename(path)
    .replace(/\.ya?ml$/, '')
    .replaceAll('-', '_');
  const { pipeline, problems } = parsePipelineFile(path);
  if (!pipeline) return { name, problems: problems.map(formatProblem) };
  return { name: pipeline.name, tool: pipelineTool(pipeline), problems: [] };
}
