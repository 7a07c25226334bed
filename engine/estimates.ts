/** How long a tool's work takes, from its past runs. Cached, refreshed behind the scenes, never in the way of a start. */
import { STATE_MEMO, type StateMemo } from '../operations/wire.js';
import { quote } from './list.js';
import { CALL_DEADLINE_MS, type EngineTemporal } from './temporal.js';

/** How long an estimate is used before it is looked up again, in milliseconds. */
const FRESH_MS = 60_000;
/** How many past runs an estimate is made from. */
const SAMPLE = 20;

export class Estimates {
  readonly #known = new Map<string, { seconds: number | undefined; at: number }>();

  constructor(private readonly engine: EngineTemporal) {}

  /**
   * The median of the tool's last completed runs, in seconds, people's time to answer not counted; undefined until
   * there are any to tell.
   */
  of(tool: string): number | undefined {
    const known = this.#known.get(tool);
    if (!known || Date.now() - known.at > FRESH_MS) {
      this.#known.set(tool, { seconds: known?.seconds, at: Date.now() });
      void this.#refresh(tool);
    }
    return known?.seconds;
  }

  async #refresh(tool: string): Promise<void> {
    try {
      const durations = await this.engine.call(async (client) => {
        const found: number[] = [];
        const query = `WorkflowType = '${tool}' AND ExecutionStatus = 'Completed' AND TaskQueue = ${quote(this.engine.taskQueue)}`;
        for await (const { startTime, closeTime, memo } of client.workflow.list({
          query,
          pageSize: SAMPLE,
        })) {
          const { awaitedMs = 0 } = (memo?.[STATE_MEMO] as StateMemo | undefined) ?? {};
          if (closeTime) found.push((closeTime.getTime() - startTime.getTime() - awaitedMs) / 1000);
          if (found.length === SAMPLE) break;
        }
        return found.sort((a, b) => a - b);
      }, CALL_DEADLINE_MS);
      const median = durations[Math.floor(durations.length / 2)];
      if (median !== undefined) this.#known.set(tool, { seconds: Math.max(0.1, median), at: Date.now() });
    } catch {
      // An estimate is a courtesy; the tool's own stands in, and the next start tries again.
    }
  }
}
