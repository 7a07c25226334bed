/** The tools that a caller may start. Lists and messages leave out all others. */
import type { Tool } from '../../operations/tool/index.js';
import type { Rights } from './policy/index.js';
import { unknownTool, type Tools } from '../../platform/project/tools.js';

/** How long a list of tools waits for services that haven't listed theirs yet, in milliseconds. */
const SERVICES_LIMIT_MS = 2_000;

export class CallerTools {
  constructor(
    private readonly tools: Tools,
    private readonly rights: () => Rights,
  ) {}

  /** Any tool, to render an operation that the caller may read. */
  get(name: string): Tool | undefined {
    return this.tools.get(name);
  }

  /**
   * A tool that the caller may start.
   *
   * @param known names for the error message
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

  /** Waits, within a limit, for services that are listing their tools for the first time. */
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

  /** See {@link Tools.render}. */
  map<T>(render: (tool: Tool) => T): T[] {
    return this.tools.render(this.values(), render);
  }

  /** A line for each tool file that couldn't be loaded. Only for callers who may start any tool. */
  problems(): string[] {
    return this.rights().mayStart('*') ? this.tools.problems() : [];
  }
}
