/** Estimates how long a tool's work takes, from its past runs. Runs are cached and refreshed in the background. */
import { decodeMapFromPayloads } from '../platform/temporal/internal/payloads.js';
import { estimateFrom, workedSeconds, type PastRun } from '../operations/estimate.js';
import type { Tool } from '../operations/tool.js';
import type { CallEstimate } from '../operations/tool-estimate.js';
import {
  START_MEMO,
  SEARCH_ATTRIBUTES,
  STATE_MEMO,
  type StartMemo,
  type StateMemo,
} from '../operations/wire.js';
import { quote } from '../platform/visibility-query.js';
import { listRuns, type RunInfo } from './current-runs.js';
import { createdAtOf } from './description.js';
import { toDate } from './history.js';
import type { TemporalClient } from './temporal.js';

/** Number of past runs to read: one page. Memos may take 64 KiB each, and a page has to fit into a gRPC message of 4 MiB. */
const SAMPLE_RUNS = 40;
/** How long past runs stay fresh, in milliseconds: a full sample, and a smaller one. */
const FRESH_MS = 300_000;
const FEW_FRESH_MS = 10_000;

interface KnownRun extends PastRun {
  variant: string | undefined;
  principal: string;
  argumentsDigest: string;
}

interface Sample {
  /** Latest first. */
  runs: readonly KnownRun[];
  /** When they were last read, by the monotonic clock. */
  readAtMs: number;
}

export interface PlannedCall {
  principal: string;
  argumentsDigest: string;
  /** Size of the work; undefined if unknown. */
  size: number | undefined;
  /** Estimate variant of the call; undefined for the default. */
  variant: string | undefined;
  /** The tool's fixed estimate for this variant. */
  estimate: CallEstimate;
}

export class Estimates {
  readonly #samples = new Map<string, Sample>();
  #reads: Promise<void> = Promise.resolve();

  constructor(private readonly temporal: TemporalClient) {}

  /** Starts reading the past runs of tools, one tool at a time, so their first calls find them. */
  preload(tools: readonly Tool[]): void {
    for (const tool of tools) this.#refresh(tool, { runs: [], readAtMs: 0 });
  }

  /**
   * Estimates a call from the tool's last completed runs of the same variant, in seconds, without time for answers and in queues; undefined
   * if the author's estimate is better. Never waits. A call of unknown size counts as large as the principal's latest run with the same
   * arguments.
   */
  of(tool: Tool, { principal, argumentsDigest, size, variant, estimate }: PlannedCall): number | undefined {
    const sample: Sample = this.#samples.get(tool.name) ?? { runs: [], readAtMs: -Infinity };
    const freshMs = sample.runs.length < SAMPLE_RUNS ? FEW_FRESH_MS : FRESH_MS;
    if (performance.now() - sample.readAtMs > freshMs) this.#refresh(tool, sample);
    const runs = sample.runs.filter((run) => run.variant === variant);
    const before = runs.find(
      (run) =>
        run.argumentsDigest === argumentsDigest && run.principal === principal && run.size !== undefined,
    );
    return estimateFrom(runs, size ?? before?.size, estimate);
  }

  /** Reads newer runs after the current reads. If a read fails, the known runs stay in use. */
  #refresh(tool: Tool, sample: Sample): void {
    // Set before the read, so concurrent calls don't read too.
    this.#samples.set(tool.name, { ...sample, readAtMs: performance.now() });
    this.#reads = this.#reads
      .then(async () => {
        const runs = await this.#read(tool);
        this.#samples.set(tool.name, { runs, readAtMs: performance.now() });
      })
      .catch(() => undefined);
  }

  /** Reads a tool's completed runs, latest first. Without search attributes, tools with the same workflow share a page. */
  async #read(tool: Tool): Promise<KnownRun[]> {
    const { searchAttributes } = await this.temporal.facts();
    const query = [
      searchAttributes
        ? `${SEARCH_ATTRIBUTES.tool} = ${quote(tool.name)}`
        : `WorkflowType = ${quote(tool.workflow)}`,
      `ExecutionStatus = 'Completed'`,
      `TaskQueue = ${quote(this.temporal.taskQueue)}`,
    ].join(' AND ');
    const { infos } = await listRuns(this.temporal, 'estimates', query, SAMPLE_RUNS);
    const runs = await Promise.all(infos.map((info) => this.#runOf(tool, info).catch(() => undefined)));
    return runs.filter((run) => run !== undefined);
  }

  /** Undefined for runs an estimate can't use: other tools', resumed operations, and runs that are no operations. */
  async #runOf(tool: Tool, { startTime, closeTime, memo }: RunInfo): Promise<KnownRun | undefined> {
    const decoded = await decodeMapFromPayloads(this.temporal.dataConverter, memo?.fields);
    const startMemo = decoded?.[START_MEMO] as StartMemo | undefined;
    if (startMemo?.tool !== tool.name || startMemo.resumedFrom !== undefined || !closeTime) return undefined;
    const state = (decoded?.[STATE_MEMO] as StateMemo | undefined) ?? {};
    const size = state.size ?? startMemo.size;
    const createdAt = new Date(createdAtOf(startMemo, toDate(startTime ?? {})));
    return {
      seconds: workedSeconds(createdAt, toDate(closeTime), state),
      variant: startMemo.variant,
      principal: startMemo.principal,
      argumentsDigest: startMemo.argumentsDigest,
      ...(size === undefined ? {} : { size }),
    };
  }
}
