/** Tools defined in code, reloaded after edits. A file that breaks keeps its previous tool, if it had one. */
import { basename, extname } from 'node:path';
import type { Tool } from '../../operations/tool/index.js';
import { queueConflict } from '../../operations/tool/queue.js';
import type { Settings } from '../settings/index.js';
import type { Logger } from '../observe/log.js';
import { filesOf, projectFilesOf } from './index.js';
import { loadToolFiles, NameRegistry, type LoadedFile } from './code.js';
import { ProjectModules } from './modules.js';
import { formatProjectProblem, ProjectError, type ProjectProblem } from './problems.js';
import { watchFiles } from './watch-files.js';

/** Names of Longhaul's own tools beside operations, with the setting that enables each: `wait` -> `mailbox`. */
export type ReservedNames = ReadonlyMap<string, string>;

/** A file with its tool, or with the tool from before its error. */
interface ToolFile extends LoadedFile<Tool> {
  /** Whether another tool already has this name. */
  isTaken?: boolean;
}

export class CodeTools {
  #files: ToolFile[] = [];
  #tools = new Map<string, Tool>();
  #modules = new ProjectModules();
  readonly #loadedSinceMs = Date.now();

  private constructor(
    private readonly settings: Settings,
    private readonly logger: Pick<Logger, 'error' | 'info'>,
    private readonly reserved: ReservedNames,
  ) {}

  /** @throws ProjectError when no file of the project can be used, or two tools share a name */
  static async load(
    settings: Settings,
    logger: Pick<Logger, 'error' | 'info'>,
    reserved: ReservedNames,
  ): Promise<CodeTools> {
    const loaded = new CodeTools(settings, logger, reserved);
    await loaded.#load();
    const failed = loaded.#files.filter(({ error }) => error);
    const own = projectFilesOf('tools', settings);
    const taken = failed.find(({ isTaken }) => isTaken);
    if (taken) throw taken.error!;
    if (failed.length > 0 && failed.length >= own.length) throw failed[0]!.error!;
    loaded.#report(failed);
    return loaded;
  }

  get tools(): ReadonlyMap<string, Tool> {
    return this.#tools;
  }

  problems(): ProjectProblem[] {
    return this.#files.flatMap(({ error }) => error?.problems ?? []);
  }

  /** Why the tool is missing: the problems of the file with its name. */
  problemOf(name: string): string | undefined {
    const file = this.#files.find(({ path, error }) => error && basename(path, extname(path)) === name);
    return file?.error?.problems.map(formatProjectProblem).join('\n');
  }

  watch(onChange: () => void): void {
    watchFiles(
      () => [...filesOf('tools', this.settings), ...this.#modules.watched()],
      async () => {
        const [toolsBefore, filesBefore] = [this.#tools, this.#files];
        await this.#load();
        onChange();
        this.#report(this.#files.filter(({ error }) => error && !isKnown(error, filesBefore)));
        const text = (tools: ReadonlyMap<string, Tool>, name: string) => JSON.stringify(tools.get(name));
        const changed = [...new Set([...this.#tools.keys(), ...toolsBefore.keys()])].filter(
          (name) => text(this.#tools, name) !== text(toolsBefore, name),
        );
        this.logger.info({ changed }, 'definitions of tools are loaded again');
      },
      {
        onError: (error) =>
          this.logger.error({ err: error }, 'definitions of tools could not be loaded again'),
        loadedSinceMs: this.#loadedSinceMs,
      },
    );
  }

  async #load(): Promise<void> {
    const before = new Map(this.#files.map(({ path, value }) => [path, value]));
    const modules = new ProjectModules();
    const names = new NameRegistry('a tool');
    const files: ToolFile[] = [];
    for (const { path, value, error } of await loadToolFiles(filesOf('tools', this.settings), modules)) {
      const taken = value && (this.#reserved(value, path) ?? names.take([value.name], path));
      const others = files.flatMap((file) => (file.error ? [] : (file.value ?? [])));
      const refused = error ?? taken ?? (value && queueError(value, others, path));
      const served = refused ? before.get(path) : value;
      files.push({
        path,
        ...(served ? { value: served } : {}),
        ...(refused ? { error: refused, isTaken: taken !== undefined } : {}),
      });
    }
    this.#modules = modules;
    this.#files = files;
    this.#tools = new Map();
    // Valid files first: an invalid file's previous tool must not take another tool's name.
    for (const { value } of [...files].sort((one, other) => Number(!!one.error) - Number(!!other.error)))
      if (value && !this.#tools.has(value.name)) this.#tools.set(value.name, value);
  }

  #reserved({ name }: Tool, path: string): ProjectError | undefined {
    const message = reservedNameConflict(name, this.reserved);
    return message === undefined ? undefined : new ProjectError(message, [{ path, message }]);
  }

  #report(files: LoadedFile<Tool>[]): void {
    for (const { value, error } of files)
      for (const problem of error!.problems)
        this.logger.error(
          {},
          `${formatProjectProblem(problem)}; ${value ? `"${value.name}" is served as it was before` : 'its tool is not served'}`,
        );
  }
}

/** Tools that share a queue must declare the same limits. */
function queueError({ name, queue }: Tool, others: Tool[], path: string): ProjectError | undefined {
  const conflict = others.map((other) => queueConflict(queue, other)).find((one) => one !== undefined);
  if (conflict === undefined) return undefined;
  const message = `tool "${name}": ${conflict}`;
  return new ProjectError(message, [{ path, message }]);
}

function isKnown(error: ProjectError, files: LoadedFile<Tool>[]): boolean {
  return files.some((file) => file.error?.message === error.message);
}

/** Why a tool can't have this name; undefined if it can. */
export function reservedNameConflict(name: string, reserved: ReservedNames): string | undefined {
  const owner = reserved.get(name);
  if (owner === undefined) return undefined;
  return `tool "${name}": the ${owner} has a tool of this name; rename one, or switch the ${owner} off (LONGHAUL_${owner.toUpperCase()})`;
}
