/** How long a tool's work takes, from its past runs. Cached, and refreshed behind the scenes. */
import { setTimeout as delay } from 'node:timers/promises';
import { estimateFrom, workedSeconds, type PastRun } from '../operations/estimate.js';
import type { Tool } from '../operations/tool.js';
import { priorOf, type CallEstimate } from '../operations/tool-estimate.js';
import {
  START_MEMO,
  SEARCH_ATTRIBUTES,
  STATE_MEMO,
  type StartMemo,
  type StateMemo,
} from '../operations/wire.js';
import { quote } from '../platform/visibility-query.js';
import { CALL_DEADLINE_MS, type TemporalClient } from './temporal.js';

/** How many past runs an estimate is made from. */
const SAMPLE = 40;
/** How long past runs are used before they are looked up again, in milliseconds: as many as that, and fewer. */
const FRESH_MS = 60_000;
const FEW_FRESH_MS = 10_000;
/** Runs on a page: their memos may be 64 KiB each, and a page has to fit a message of gRPC. */
const PAGE_RUNS = 20;
/** How many pages are looked through at most. Where Temporal can't list by tool, other tools' runs are among them. */
const MAX_PAGES = 4;
/** How long the first call of a tool in this process is held up for it at most, in milliseconds. */
const FIRST_PATIENCE_MS = 1_000;
/** Lists are rate-limited, so tools are looked up one after the other, with a pause, in milliseconds. */
const PAUSE_MS = 250;

interface KnownRun extends PastRun {
  variant: string | undefined;
  principal: string;
  argumentsDigest: string;
}

/** What is known of a call before it starts. */
export interface PlannedWork {
  principal: string;
  argumentsDigest: string;
  /** Size of the work; undefined where nobody knows it. */
  size: number | undefined;
  /** Name of the kind of call; undefined for the usual one. */
  variant: string | undefined;
  /** What the author says of this kind of call. */
  line: CallEstimate;
}

export class Estimates {
  readonly #known = new Map<string, { runs: KnownRun[]; readAtMs: number }>();
  #lookUps: Promise<void> = Promise.resolve();

  /** @param firstPatienceMs how long a tool's first call waits for its past runs at most, in milliseconds */
  constructor(
    private readonly temporal: TemporalClient,
    private readonly firstPatienceMs = FIRST_PATIENCE_MS,
  ) {}

  /**
   * Estimates a call from the tool's last completed runs of its kind, in seconds, people's time to answer and time in queue
   * not counted; undefined until there are any. Work whose size nobody knows beforehand has the one that the same call of
   * the same principal had.
   */
  async of(
    tool: Tool,
    { principal, argumentsDigest, size, variant, line }: PlannedWork,
  ): Promise<number | undefined> {
    const runs = (await this.#runs(tool)).filter((run) => run.variant === variant).slice(0, SAMPLE);
    const before = runs.find(
      (run) =>
        run.argumentsDigest === argumentsDigest && run.principal === principal && run.size !== undefined,
    );
    return estimateFrom(runs, size ?? before?.size, priorOf(line));
  }

  async #runs(tool: Tool): Promise<readonly KnownRun[]> {
    const known = this.#known.get(tool.name);
    const freshMs = known && known.runs.length >= SAMPLE ? FRESH_MS : FEW_FRESH_MS;
    if (known && performance.now() - known.readAtMs <= freshMs) return known.runs;
    // At once, so that nobody else looks them up meanwhile.
    this.#known.set(tool.name, { runs: known?.runs ?? [], readAtMs: performance.now() });
    const lookUp = this.#lookUps.then(() => this.#lookUp(tool));
    this.#lookUps = lookUp.then(() => delay(PAUSE_MS, undefined, { ref: false }));
    // Processes that serve one client are young at every call: they would never tell what is known.
    if (!known) await Promise.race([lookUp, delay(this.firstPatienceMs, undefined, { ref: false })]);
    return this.#known.get(tool.name)!.runs;
  }

  async #lookUp(tool: Tool): Promise<void> {
    try {
      this.#known.set(tool.name, { runs: await this.#read(tool), readAtMs: performance.now() });
    } catch {
      // An estimate is a courtesy; what is known stands in, and a later start tries again.
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
    // Kinds of calls share what is read.
    const wanted = tool.estimate.variants?.length ? MAX_PAGES * PAGE_RUNS : SAMPLE;
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

/** Undefined for what doesn't tell how long a call takes: workflows of other tools, and work that was resumed half-way. */
function runOf(
  tool: string,
  startTime: Date,
  closeTime: Date | undefined,
  memo: Record<string, unknown> | undefined,
): KnownRun | undefined {
  const marker = memo?.[START_MEMO] as StartMemo | undefined;
  if (marker?.tool !== tool || marker.resumedFrom !== undefined || !closeTime) return undefined;
  const state = (memo?.[STATE_MEMO] as StateMemo | undefined) ?? {};
  const size = state.size ?? marker.size;
  const createdAt = marker.createdAt === undefined ? startTime : new Date(marker.createdAt);
  return {
    seconds: workedSeconds(createdAt, closeTime, state),
    variant: marker.variant,
    principal: marker.principal,
    argumentsDigest: marker.argumentsDigest,
    ...(size === undefined ? {} : { size }),
  };
}
