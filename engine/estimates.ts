/**
 * Estimates of how long a tool's work takes, from its past runs. The runs are cached; newer ones are read in the background, for
 * all tools by one query.
 */
import { decodeMapFromPayloads } from '../platform/temporal/internal/payloads.js';
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
import { listRuns, type RunInfo } from './current-runs.js';
import { createdAtOf } from './description.js';
import { toDate } from './history.js';
import type { TemporalClient } from './temporal.js';

/** Number of past runs that an estimate is made from. */
const SAMPLE_RUNS = 40;
/** How long cached runs are used, in milliseconds: those of a full sample, and at first those of fewer runs. */
const FRESH_MS = 300_000;
const FEW_FRESH_MS = 10_000;
/** Time within which calls of several tools share a read, in milliseconds. */
const SHARED_MS = 5_000;
/** How much later than it closed a run may appear in lists, in milliseconds. */
const LAG_MS = 120_000;
/** Runs per page: their memos may be 64 KiB each, and a page has to fit into a gRPC message. */
const PAGE_RUNS = 20;
/** Maximum number of pages read. Without search attributes, they contain the runs of other tools too. */
const MAX_PAGES = 4;

interface KnownRun extends PastRun {
  runId: string;
  tool: string;
  closedAt: Date;
  variant: string | undefined;
  principal: string;
  argumentsDigest: string;
}

/** Past runs of a tool. */
interface Sample {
  tool: Tool;
  /** Latest first. */
  runs: readonly KnownRun[];
  /** Monotonic clock: when newer runs were last looked for. */
  readAtMs: number;
  freshMs: number;
  /** Temporal's time until which all runs that matter are known; undefined if some may be missing. */
  completeUntil?: Date;
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
  readonly #samples = new Map<string, Sample>();
  #reads: Promise<void> = Promise.resolve();

  constructor(private readonly temporal: TemporalClient) {}

  /** Begins to read the past runs of tools, so that their first calls find them. */
  preload(tools: readonly Tool[]): void {
    const samples = tools.map((tool) => this.#newSample(tool));
    this.#enqueue(async () => {
      await this.#readTogether(samples);
      for (const sample of samples) if (!sample.completeUntil) await this.#readTogether([sample]);
    });
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

  /** The runs known now; begins to look for newer ones if they are unknown or old. */
  #runs(tool: Tool): readonly KnownRun[] {
    const sample = this.#samples.get(tool.name);
    if (!sample) {
      const added = this.#newSample(tool);
      this.#enqueue(() => this.#readTogether([added]));
      return added.runs;
    }
    sample.tool = tool;
    if (performance.now() - sample.readAtMs > sample.freshMs) {
      // Set before the read, so that concurrent calls do not read too.
      sample.readAtMs = performance.now();
      sample.freshMs = Math.min(FRESH_MS, sample.freshMs * 2);
      this.#enqueue(() => this.#refresh(sample));
    }
    return sample.runs;
  }

  #newSample(tool: Tool): Sample {
    const sample = { tool, runs: [], readAtMs: performance.now(), freshMs: FEW_FRESH_MS };
    this.#samples.set(tool.name, sample);
    return sample;
  }

  /** Reads one after the other. Estimates are optional: after a failure the cached runs stay in use. */
  #enqueue(read: () => Promise<void>): void {
    this.#reads = this.#reads.then(read).catch(() => undefined);
  }

  /** Looks for newer runs: of all tools if possible, since that takes no more calls. */
  async #refresh(sample: Sample): Promise<void> {
    const isRecent =
      sample.completeUntil && (await this.temporal.nowMs()) - Number(sample.completeUntil) < SHARED_MS;
    if (isRecent) return;
    if (sample.completeUntil)
      await this.#readTogether([...this.#samples.values()].filter(({ completeUntil }) => completeUntil));
    if (!sample.completeUntil) await this.#readTogether([sample]);
  }

  /**
   * Adds the latest runs of several tools, those that closed since all of them were complete. Where there are more than are
   * read, a tool that has fewer of them than its sample needs is incomplete afterwards; a single tool never is.
   */
  async #readTogether(samples: Sample[]): Promise<void> {
    const begunAt = new Date(await this.temporal.nowMs());
    const times = samples.map(({ completeUntil }) => Number(completeUntil ?? 0));
    const after = Math.min(...times);
    const { runs, isComplete } = await this.#read(
      samples.map(({ tool }) => tool),
      after === 0 ? undefined : new Date(after - LAG_MS),
    );
    for (const sample of samples) {
      const { tool } = sample;
      const known = new Set(sample.runs.map(({ runId }) => runId));
      const own = runs.filter((run) => run.tool === tool.name);
      const added = own.filter(({ runId }) => !known.has(runId));
      // Variants share the runs that are read.
      const wanted = tool.estimate.variants?.length ? MAX_PAGES * PAGE_RUNS : SAMPLE_RUNS;
      sample.runs = [...added, ...sample.runs]
        .sort((one, other) => Number(other.closedAt) - Number(one.closedAt))
        .slice(0, wanted);
      sample.readAtMs = performance.now();
      if (sample.runs.length >= SAMPLE_RUNS) sample.freshMs = FRESH_MS;
      else if (added.length > 0) sample.freshMs = FEW_FRESH_MS;
      if (isComplete || own.length >= wanted || samples.length === 1) sample.completeUntil = begunAt;
      else delete sample.completeUntil;
    }
  }

  /** Reads completed runs, latest first. @returns also whether these are all */
  async #read(tools: Tool[], closedAfter?: Date): Promise<{ runs: KnownRun[]; isComplete: boolean }> {
    if (tools.length === 0) return { runs: [], isComplete: true };
    const { searchAttributes } = await this.temporal.facts();
    const anyOf = (values: string[]) => `IN (${[...new Set(values)].map(quote).join(', ')})`;
    const query = [
      searchAttributes
        ? `${SEARCH_ATTRIBUTES.tool} ${anyOf(tools.map(({ name }) => name))}`
        : `WorkflowType ${anyOf(tools.map(({ workflow }) => workflow))}`,
      `ExecutionStatus = 'Completed'`,
      `TaskQueue = ${quote(this.temporal.taskQueue)}`,
      ...(closedAfter ? [`CloseTime > '${closedAfter.toISOString()}'`] : []),
    ].join(' AND ');
    const runs: KnownRun[] = [];
    let next: Uint8Array | undefined;
    let pages = 0;
    do {
      const page = await listRuns(this.temporal, 'estimates', query, PAGE_RUNS, next);
      const read = await Promise.all(page.infos.map((info) => this.#runOf(info)));
      runs.push(...read.filter((run) => run !== undefined));
      next = page.next;
      pages += 1;
    } while (next && pages < MAX_PAGES);
    return { runs, isComplete: !next };
  }

  /** Undefined for runs that an estimate can't use: those that are no operation, and operations that were resumed. */
  async #runOf({ startTime, closeTime, memo, execution }: RunInfo): Promise<KnownRun | undefined> {
    const decoded = await decodeMapFromPayloads(this.temporal.dataConverter, memo?.fields);
    const startMemo = decoded?.[START_MEMO] as StartMemo | undefined;
    if (!startMemo || startMemo.resumedFrom !== undefined || !closeTime) return undefined;
    const state = (decoded?.[STATE_MEMO] as StateMemo | undefined) ?? {};
    const size = state.size ?? startMemo.size;
    const createdAt = new Date(createdAtOf(startMemo, toDate(startTime ?? {})));
    const closedAt = toDate(closeTime);
    return {
      runId: execution?.runId ?? '',
      tool: startMemo.tool,
      closedAt,
      seconds: workedSeconds(createdAt, closedAt, state),
      variant: startMemo.variant,
      principal: startMemo.principal,
      argumentsDigest: startMemo.argumentsDigest,
      ...(size === undefined ? {} : { size }),
    };
  }
}
