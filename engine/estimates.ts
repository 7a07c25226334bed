/** Estimates of how long a tool's work takes, from its past runs. Cached, and refreshed in the background. */
import { setTimeout as delay } from 'node:timers/promises';
import { estimateFrom, workedSeconds, type PastRun } from '../operations/estimate.js';
import type { Tool } from '../operations/tool.js';
import { priorEstimate, type CallEstimate } from '../operations/tool-estimate.js';
import {
  START_MEMO,
  SEARCH_ATTRIBUTES,
  STATE_MEMO,
  type StartMemo,
  type StateMemo,
} from '../operations/wire.js';
import { quote } from '../platform/visibility-query.js';
import { CALL_DEADLINE_MS, type TemporalClient } from './temporal.js';

/** Number of past runs that an estimate is made from. */
const SAMPLE_RUNS = 40;
/** How long cached runs are used before they are read again, in milliseconds: with a full sample, and with fewer runs. */
const FRESH_MS = 60_000;
const FEW_FRESH_MS = 10_000;
/** Runs per page: their memos may be 64 KiB each, and a page has to fit into a gRPC message. */
const PAGE_RUNS = 20;
/** Maximum number of pages read. Without search attributes, they contain the runs of other tools too. */
const MAX_PAGES = 4;
/** Pause between the reads of two tools, in milliseconds: list calls are rate-limited. */
const PAUSE_MS = 250;

interface KnownRun extends PastRun {
  variant: string | undefined;
  principal: string;
  argumentsDigest: string;
}

/** A call before its start. */
export interface PlannedCall {
  principal: string;
  argumentsDigest: string;
  /** Size of the work; undefined if it is unknown. */
  size: number | undefined;
  /** Name of the estimate variant that applies to the call; undefined for the default one. */
  variant: string | undefined;
  /** Fixed estimate of the tool for this variant. */
  estimate: CallEstimate;
}

export class Estimates {
  readonly #known = new Map<string, { runs: KnownRun[]; readAtMs: number }>();
  #lookUps: Promise<void> = Promise.resolve();

  constructor(private readonly temporal: TemporalClient) {}

  /** Begins to read the past runs of tools, one tool after the other, so that their first calls find them. */
  preload(tools: readonly Tool[]): void {
    for (const tool of tools) this.#runs(tool);
  }

  /**
   * Estimates a call from the tool's last completed runs of the same variant, in seconds, without people's time to answer and
   * time in queue; undefined until there are such runs. Never waits. If the size of the work is unknown, that of the latest run
   * with the same arguments and principal is used.
   */
  of(tool: Tool, { principal, argumentsDigest, size, variant, estimate }: PlannedCall): number | undefined {
    const runs = this.#runs(tool)
      .filter((run) => run.variant === variant)
      .slice(0, SAMPLE_RUNS);
    const before = runs.find(
      (run) =>
        run.argumentsDigest === argumentsDigest && run.principal === principal && run.size !== undefined,
    );
    return estimateFrom(runs, size ?? before?.size, priorEstimate(estimate));
  }

  /** The runs known now; begins to read them if they are unknown or old. */
  #runs(tool: Tool): readonly KnownRun[] {
    const known = this.#known.get(tool.name);
    const freshMs = known && known.runs.length >= SAMPLE_RUNS ? FRESH_MS : FEW_FRESH_MS;
    if (known && performance.now() - known.readAtMs <= freshMs) return known.runs;
    const runs = known?.runs ?? [];
    // Set before the read, so that concurrent calls do not read too.
    this.#known.set(tool.name, { runs, readAtMs: performance.now() });
    this.#lookUps = this.#lookUps
      .then(() => this.#lookUp(tool))
      .then(() => delay(PAUSE_MS, undefined, { ref: false }));
    return runs;
  }

  async #lookUp(tool: Tool): Promise<void> {
    try {
      this.#known.set(tool.name, { runs: await this.#read(tool), readAtMs: performance.now() });
    } catch {
      // Estimates are optional: the cached runs stay in use, and a later start reads again.
    }
  }

  async #read(tool: Tool): Promise<KnownRun[]> {
    const { searchAttributes } = await this.temporal.facts();
    const query = [
      searchAttributes
        ? `${SEARCH_ATTRIBUTES.tool} = ${quote(tool.name)}`
        : `WorkflowType = ${quote(tool.workflow)}`,
      `ExecutionStatus = 'Completed'`,
      `TaskQueue = ${quote(this.temporal.taskQueue)}`,
    ].join(' AND ');
    // Variants share the runs that are read.
    const wanted = tool.estimate.variants?.length ? MAX_PAGES * PAGE_RUNS : SAMPLE_RUNS;
    return this.temporal.call(async (client) => {
      const found: KnownRun[] = [];
      let seen = 0;
      for await (const { startTime, closeTime, memo } of client.workflow.list({
        query,
        pageSize: PAGE_RUNS,
      })) {
        const run = runOf(tool.name, startTime, closeTime, memo);
        if (run) found.push(run);
        seen += 1;
        if (found.length === wanted || seen === MAX_PAGES * PAGE_RUNS) break;
      }
      return found;
    }, CALL_DEADLINE_MS);
  }
}

/** Undefined for runs that an estimate can't use: those of other tools, and operations that were resumed. */
function runOf(
  tool: string,
  startTime: Date,
  closeTime: Date | undefined,
  memo: Record<string, unknown> | undefined,
): KnownRun | undefined {
  const startMemo = memo?.[START_MEMO] as StartMemo | undefined;
  if (startMemo?.tool !== tool || startMemo.resumedFrom !== undefined || !closeTime) return undefined;
  const state = (memo?.[STATE_MEMO] as StateMemo | undefined) ?? {};
  const size = state.size ?? startMemo.size;
  const createdAt = startMemo.createdAt === undefined ? startTime : new Date(startMemo.createdAt);
  return {
    seconds: workedSeconds(createdAt, closeTime, state),
    variant: startMemo.variant,
    principal: startMemo.principal,
    argumentsDigest: startMemo.argumentsDigest,
    ...(size === undefined ? {} : { size }),
  };
}
