/**
 * The tools that a server offers, from code and from YAML files (pipelines and external workflows). Listing or calling tools
 * reads changed YAML files. An unusable file only lacks its own tool.
 */
import { LonghaulError } from '../../operations/errors.js';
import type { Tool } from '../../operations/tool/index.js';
import { queueConflict } from '../../operations/tool/queue.js';
import { parseToolFile } from '../../external-workflows/parse.js';
import { isToolService, type ToolService } from '../../external-workflows/service.js';
import { formatProblem, parsePipelineTool } from '../../pipelines/parse.js';
import { toolNameOf, type ParsedFile } from '../../pipelines/yaml/yaml-file.js';
import type { Settings } from '../settings/index.js';
import type { Logger } from '../observe/log.js';
import { filesIn, toolFolderOf } from './index.js';
import { formatProjectProblem, workerProblems } from './problems.js';
import { CodeTools, reservedNameConflict, type ReservedNames } from './code-tools.js';
import { ServiceListings, type Listing, type ListTools } from './service-listings.js';
import { versionOf } from './watch-files.js';
import { withTimeout } from '../with-timeout.js';

export type { ReservedNames } from './code-tools.js';

export interface YamlFolder {
  path: string;
  /** Kind of tool that a file defines, for messages. */
  noun: 'a pipeline' | 'a tool';
  parse: (path: string) => ParsedFile<Tool | ToolService>;
}

interface YamlFile {
  noun: YamlFolder['noun'];
  /** Modification time and size, which change with an edit. */
  version: string;
  /** Name under which callers look for it. */
  name: string;
  /** One tool; none if the file is unusable; all tools of a service. */
  tools: Tool[];
  /** A line for each problem of the file or of a service's tool. */
  problems: string[];
  /** A line for each tool that conflicts with another tool's name or queue. */
  conflicts: string[];
  /** Set if the file names a service that lists its tools. */
  service?: ToolService;
  /** The listing that `tools` and `problems` come from. */
  listing?: Listing;
}

/** @param known names of the tools that the caller sees */
export function unknownTool(name: string, known: string[]): LonghaulError {
  return new LonghaulError('unknown_tool', `unknown tool "${name}"; known are ${known.join(', ') || 'none'}`);
}

export class Tools {
  #files = new Map<string, YamlFile>();
  #ofFiles = new Map<string, Tool>();
  /** Why a tool couldn't be rendered. An edit makes a new tool. */
  readonly #faults = new WeakMap<Tool, string>();
  readonly #listings: ServiceListings;

  constructor(
    private ofCode: ReadonlyMap<string, Tool>,
    private readonly folders: readonly YamlFolder[],
    private readonly logger: Pick<Logger, 'warn' | 'info'>,
    /** Names of Longhaul's own tools. */
    private readonly reserved: ReservedNames = new Map(),
    /** Problems of tools in code. */
    private readonly others: { of(name: string): string | undefined; all(): string[] } = {
      of: () => undefined,
      all: () => [],
    },
  ) {
    this.#listings = new ServiceListings(logger);
    this.refresh();
  }

  /** Offers services' tools too. @param list asks a service for them */
  serveServices(list: ListTools): void {
    this.#listings.serve(list);
    this.refresh();
  }

  /** Resolves once each service being asked for tools has answered or failed, or the time is over. */
  async settled(limitMs: number): Promise<void> {
    this.refresh();
    const services = [...this.#files.values()].flatMap(({ service, listing }) =>
      service && !listing?.isKnown ? [this.#listings.settled(service)] : [],
    );
    if (services.length > 0) await withTimeout(Promise.all(services), limitMs);
  }

  /** The tool as of the last time tools were listed or called. */
  get(name: string): Tool | undefined {
    return this.ofCode.get(name) ?? this.#ofFiles.get(name);
  }

  /** Like {@link get}, after reading changed files. @throws LonghaulError `unknown_tool` */
  find(name: string, known: () => string[]): Tool {
    this.refresh();
    const tool = this.get(name);
    if (tool) return tool;
    const unknown = this.#unknownServiceOf(name);
    if (unknown) throw new LonghaulError('unavailable', `tool "${name}": ${problemsIn(unknown).join('\n')}`);
    const problem = this.problemOf(name);
    if (problem === undefined) throw unknownTool(name, known());
    throw new LonghaulError(
      'unknown_tool',
      `tool "${name}" can't be used until its file is fixed:\n${problem}`,
    );
  }

  /** The file of the service that owns a tool of this name, if the service hasn't listed its tools yet. */
  #unknownServiceOf(name: string): YamlFile | undefined {
    return [...this.#files.values()].find(
      ({ service, listing }) => service && !listing?.isKnown && name.startsWith(`${service.service}_`),
    );
  }

  keys(): string[] {
    return this.values().map(({ name }) => name);
  }

  values(): Tool[] {
    this.refresh();
    return [...this.ofCode.values(), ...this.#ofFiles.values()];
  }

  /** Why the tool is missing: problems of the file that should define it. */
  problemOf(name: string): string | undefined {
    const file = [...this.#files.values()].find((one) => one.name === name && problemsIn(one).length > 0);
    return file ? problemsIn(file).join('\n') : this.others.of(name);
  }

  /** Problems of files and of tools that can't be rendered, a line each. */
  problems(): string[] {
    const faults = this.values().flatMap((tool) => this.#faults.get(tool) ?? []);
    return [...this.others.all(), ...[...this.#files.values()].flatMap(problemsIn), ...faults];
  }

  /** Renders tools one by one. Leaves out a tool that can't be rendered, logs it, and adds it to the problems. */
  render<T>(tools: Tool[], render: (tool: Tool) => T): T[] {
    return tools.flatMap((tool) => {
      try {
        return [render(tool)];
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        const fault = `tool "${tool.name}" can't be shown: ${reason}`;
        if (this.#faults.get(tool) !== fault) this.logger.warn({ err: error }, fault);
        this.#faults.set(tool, fault);
        return [];
      }
    });
  }

  replaceCode(ofCode: ReadonlyMap<string, Tool>): void {
    this.ofCode = ofCode;
    this.#takeUp(this.#files);
  }

  /** Reads files changed since the last call, and takes what services have listed. */
  refresh(): void {
    const before = this.#files;
    this.#files = new Map();
    for (const folder of this.folders)
      for (const path of yamlPaths(folder.path)) {
        const version = versionOf(path);
        if (version === undefined) continue;
        const known = before.get(path);
        const file =
          known?.version === version ? known : { version, conflicts: [], ...readYaml(folder, path) };
        this.#files.set(path, this.#withListing(path, file));
      }
    const hasChanged =
      this.#files.size !== before.size || [...this.#files].some(([path, file]) => before.get(path) !== file);
    if (hasChanged) this.#takeUp(before);
  }

  #withListing(path: string, file: YamlFile): YamlFile {
    if (!file.service) return file;
    const listing = this.#listings.of(file.service);
    if (listing === file.listing) return file;
    const { endpoint, service } = file.service;
    const place = `${path}: the Nexus service "${service}" at the endpoint "${endpoint}"`;
    const problems = listing.problems.map((problem) => `${place}: ${problem}`);
    return { ...file, listing, tools: listing.tools, problems };
  }

  /** Tools that share a queue must declare the same limits. */
  #queueConflict({ queue }: Tool): string | undefined {
    if (!queue) return undefined;
    return [...this.ofCode.values(), ...this.#ofFiles.values()]
      .map((other) => queueConflict(queue, other))
      .find((conflict) => conflict !== undefined);
  }

  #takeUp(before: ReadonlyMap<string, YamlFile>): void {
    this.#ofFiles = new Map();
    for (const [path, file] of this.#files) {
      const conflictsBefore = file.conflicts;
      file.conflicts = [];
      for (const tool of file.tools) {
        const conflict = this.#conflictOf(tool);
        if (conflict === undefined) this.#ofFiles.set(tool.name, tool);
        else file.conflicts.push(`${path}: ${conflict}`);
      }
      const isNews = before.get(path) !== file || file.conflicts.join() !== conflictsBefore.join();
      if (isNews)
        for (const problem of problemsIn(file))
          this.logger.warn({ path }, `${file.noun} can't be used: ${problem}`);
    }
  }

  #conflictOf(tool: Tool): string | undefined {
    const reserved = reservedNameConflict(tool.name, this.reserved);
    if (reserved !== undefined) return reserved;
    if (this.get(tool.name)) return `there is already a tool "${tool.name}"`;
    return this.#queueConflict(tool);
  }
}

/**
 * Loads the tools of these settings and watches their files.
 *
 * @param reserved names that no tool of the project can have
 * @throws ProjectError when no file of the project's tools can be used, or two tools share a name
 */
export async function createTools(
  settings: Settings,
  logger: Pick<Logger, 'error' | 'warn' | 'info'>,
  reserved: ReservedNames,
): Promise<Tools> {
  const code = await CodeTools.load(settings, logger, reserved);
  const tools = new Tools(code.tools, yamlFolders(settings), logger, reserved, {
    of: (name) => code.problemOf(name),
    all: () => [...code.problems().map(formatProjectProblem), ...workerProblems(settings)],
  });
  code.watch(() => tools.replaceCode(code.tools));
  return tools;
}

function problemsIn({ problems, conflicts }: YamlFile): string[] {
  return [...problems, ...conflicts];
}

export function yamlFolders(settings: Settings): YamlFolder[] {
  const tools = toolFolderOf(settings);
  return [
    ...settings.pipelineFolders.map((path): YamlFolder => ({
      path,
      noun: 'a pipeline',
      parse: parsePipelineTool,
    })),
    ...(tools === undefined ? [] : [{ path: tools, noun: 'a tool' as const, parse: parseToolFile }]),
  ];
}

/** The YAML files of a folder; none if it doesn't exist. */
export function yamlPaths(folder: string): string[] {
  return filesIn(folder, (name) => /\.ya?ml$/i.test(name));
}

function readYaml({ noun, parse }: YamlFolder, path: string): Omit<YamlFile, 'version' | 'conflicts'> {
  const { value, problems } = parse(path);
  const name = toolNameOf(path);
  if (!value) return { noun, name, tools: [], problems: problems.map(formatProblem) };
  if (isToolService(value)) return { noun, name, tools: [], problems: [], service: value };
  return { noun, name: value.name, tools: [value], problems: [] };
}
