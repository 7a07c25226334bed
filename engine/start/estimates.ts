/** Estimates how long a tool's work takes, from its past runs. Runs are cached and refreshed in the background. */
import { memoProblem, readMemo } from '../../platform/temporal/memo.js';
import { estimateFrom, workedSeconds, type PastRun } from '../../operations/estimate.js';
import type { Tool } from '../../operations/tool/index.js';
import type { CallEstimate } from '../../operations/tool/estimate.js';
import { START_MEMO, SEARCH_ATTRIBUTES, type StartMemo } from '../../operations/wire/index.js';
import { STATE_MEMO, type StateMemo } from '../../operations/wire/state.js';
import { anyOf, quote } from '../../platform/temporal/visibility-query.js';
import { listRuns, type RunInfo } from '../list/current-runs.js';
import { createdAtOf } from '../read/start-memo.js';
import { toDate } from '../read/history.js';
import type { TemporalClient } from '../temporal/client.js';

/** Number of past runs to read: one page. Memos may take 64 KiB each, and a page has to fit into a gRPC message of 4 MiB. */
const SAMPLE_RUNS = 40;
/** How long past runs stay fresh, in milliseconds: a full sample, and a smaller one. */
const FRESH_MS = 300_000;
const FEW_FRESH_MS = 10_000;

interface KnownRun extends PastRun {
  tool: string;
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

  /** Starts reading the latest runs of all tools by one query, so first calls find them. A tool with earlier runs reads its own then. */
  preload(tools: readonly Tool[]): void {
    this.#enqueue(async () => {
      const { runs, isComplete } = await this.#read(tools);
      const readAtMs = isComplete ? performance.now() : -Infinity;
      // Calls that came meanwhile have read their tool's runs by themselves.
      for (const { name } of tools.filter(({ name }) => !this.#samples.has(name)))
        this.#samples.set(name, { runs: runs.filter(({ tool }) => tool === name), readAtMs });
    });
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

  #refresh(tool: Tool, sample: Sample): void {
    // Set before the read, so concurrent calls don't read too.
    this.#samples.set(tool.name, { ...sample, readAtMs: performance.now() });
    this.#enqueue(async () => {
      const { runs } = await this.#read([tool]);
      this.#samples.set(tool.name, { runs, readAtMs: performance.now() });
    });
  }

  /** Reads one after the other. If a read fails, the known runs stay in use. */
  #enqueue(read: () => Promise<void>): void {
    this.#reads = this.#reads.then(read).catch(() => undefined);
  }

  /** Reads a page of completed runs, latest first. @returns also whether these are all */
  async #read(tools: readonly Tool[]): Promise<{ runs: KnownRun[]; isComplete: boolean }> {
    const { searchAttributes } = await this.temporal.facts();
    const query = [
      searchAttributes
        ? `${SEARCH_ATTRIBUTES.tool} ${anyOf(tools.map(({ name }) => name))}`
        : `WorkflowType ${anyOf(tools.map(({ workflow }) => workflow))}`,
      `ExecutionStatus = 'Completed'`,
      `TaskQueue = ${quote(this.temporal.taskQueue)}`,
    ].join(' AND ');
    const { infos, next } = await listRuns(this.temporal, 'estimates', query, SAMPLE_RUNS);
    const read = await Promise.all(infos.map((info) => this.#runOf(info).catch(() => undefined)));
    const names = new Set(tools.map(({ name }) => name));
    const runs = read.filter((run) => run !== undefined).filter(({ tool }) => names.has(tool));
    return { runs, isComplete: !next };
  }

  /** Undefined for runs an estimate can't use: resumed operations, unreadable ones, and runs that are no operations. */
  async #runOf({ startTime, closeTime, memo }: RunInfo): Promise<KnownRun | undefined> {
    const decoded = await readMemo(this.temporal.dataConverter, memo?.fields, [START_MEMO, STATE_MEMO]);
    const startMemo = decoded[START_MEMO] as StartMemo | undefined;
    if (!startMemo || startMemo.resumedFrom !== undefined || !closeTime || memoProblem(decoded))
      return undefined;
    const state = (decoded[STATE_MEMO] as StateMemo | undefined) ?? {};
    const size = state.size ?? startMemo.size;
    const createdAt = new Date(createdAtOf(startMemo, toDate(startTime ?? {})));
    return {
      tool: startMemo.tool,
      seconds: workedSeconds(createdAt, toDate(closeTime), state),
      variant: startMemo.variant,
      principal: startMemo.principal,
      argumentsDigest: startMemo.argumentsDigest,
      ...(size === undefined ? {} : { size }),
    };
  }
}
