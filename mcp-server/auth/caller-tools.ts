/** The tools that a caller may start. The others are neither listed nor named. */
import type { Tool } from '../../operations/tool.js';
import type { Rights } from '../../platform/policy/index.js';
import { unknownTool, type Tools } from '../../platform/tools.js';

/** How long a list of tools waits for services that have not listed theirs yet, in milliseconds. */
const SERVICES_LIMIT_MS = 2_000;

export class CallerTools {
  constructor(
    private readonly tools: Tools,
    private readonly rights: () => Rights,
  ) {}

  /** Any tool, for what shows an operation that the caller may read. */
  get(name: string): Tool | undefined {
    return this.tools.get(name);
  }

  /**
   * A tool that the caller may start.
   *
   * @param known names listed in the error message
   * @throws LonghaulError `unknown_tool`, the same for a tool that the caller may not start
   */
  find(name: string, known: () => string[]): Tool {
    this.assertMayStart(name, known);
    return this.tools.find(name, known);
  }

  /** @throws LonghaulError as {@link find} */
  assertMayStart(name: string, known = () => this.keys()): void {
    if (this.rights().mayStart(name)) return;
    throw unknownTool(name, known());
  }

  /** Waits for services that are being asked for their tools for the first time, within a limit. */
  settled(): Promise<void> {
    return this.tools.settled(SERVICES_LIMIT_MS);
  }

  keys(): string[] {
    return this.values().map(({ name }) => name);
  }

  values(): Tool[] {
    const { mayStart } = this.rights();
    return this.tools.values().filter(({ name }) => mayStart(name));
  }

  /** Renders each tool; see {@link Tools.render}. */
  map<T>(render: (tool: Tool) => T): T[] {
    return this.tools.render(this.values(), render);
  }

  /** Problems of files that couldn't be loaded as tools, a line each; for callers who may start whatever those define. */
  problems(): string[] {
    return this.rights().mayStart('*') ? this.tools.problems() : [];
  }
}
