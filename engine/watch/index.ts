/**
 * Watches of operations: one history long poll per watched workflow and process, shared by all watchers. While a watcher wants progress, it
 * is read every second, and up to every 5 s without changes. Beyond the limit of long polls, workflows are described in turn. Waiting
 * writes no history and needs no worker.
 */
import { setTimeout as delay } from 'node:timers/promises';
import proto from '@temporalio/proto';
import { isKind } from '../../operations/errors.js';
import { isTerminal, type OperationRecord } from '../../operations/record.js';
import { isSignalledAnswer } from '../answer/sent.js';
import { CLOSING_EVENTS } from '../read/history.js';
import { isThrottled, isUnreachable, retryDelayMs } from '../../platform/temporal/grpc-errors.js';
import { LEAST_JITTER, withJitter } from '../../platform/jitter.js';
import type { TemporalClient } from '../temporal/client.js';
import PQueue from 'p-queue';

const { EventType } = proto.temporal.api.enums.v1;

/** First and longest interval between reads of progress, in milliseconds. */
const FIRST_TICK_MS = 1_000;
const LONGEST_TICK_MS = 5_000;
/** Deadline of a long poll, in milliseconds. Temporal ends one after about 20 s. */
const POLL_DEADLINE_MS = 70_000;
/** First and longest pause after a failed long poll, and the pause after a failed read, in milliseconds. */
const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 15_000;
/** Longest pause to keep at the server's request, in milliseconds. */
const LONGEST_ASKED_MS = 60_000;
/** Pause between describes of a workflow without a long poll, in milliseconds. Under load, its turn comes later. */
const DESCRIBE_INTERVAL_MS = 2_000;

/** Events that change a record. Progress writes none. */
const CHANGING_EVENTS: ReadonlySet<number> = new Set([
  EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED,
  EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED,
  EventType.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED,
  ...CLOSING_EVENTS,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW,
]);

export interface WatchOptions {
  signal: AbortSignal;
  /** Also watch progress between changes of state. Default: false. */
  progress?: boolean;
}

export interface WatchedRecord extends OperationRecord {
  /**
   * Whether its progress is higher than in all earlier records. Notifications of a progress token have to increase (specs: 2026-07-28
   * basic/patterns/progress, "Progress Flow").
   */
  hasProgressed: boolean;
}

interface ChangeOptions extends WatchOptions {
  /** Time after which to yield without a change, in milliseconds. Default: yields only changes. */
  pauseMs?: () => number;
}

interface Watcher {
  onChange: () => void;
  wantsProgress: boolean;
}

export class Watches {
  readonly #watches = new Map<string, Watch>();
  readonly #limit: PollLimit;

  constructor(private readonly temporal: TemporalClient) {
    this.#limit = new PollLimit(temporal.maxHistoryPolls);
  }

  /** Numbers of watched operations and of their open long polls. */
  get counts(): { operations: number; polls: number } {
    return { operations: this.#watches.size, polls: this.#limit.openCount };
  }

  /**
   * Yields at once, then after each possible change, until the signal fires. Merges changes while the consumer is busy; a consumer that
   * reads after each yield misses nothing. Yields false if only the pause has passed.
   */
  async *changes(
    workflowId: string,
    { signal, progress = false, pauseMs }: ChangeOptions,
  ): AsyncGenerator<boolean> {
    let wake: () => void = () => undefined;
    let hasChanged = true;
    const onChange = () => {
      hasChanged = true;
      wake();
    };
    // Subscribe before the first read, so no change in between is missed.
    const release = this.#join(workflowId, { onChange, wantsProgress: progress });
    const stop = () => wake();
    signal.addEventListener('abort', stop);
    let timer: NodeJS.Timeout | undefined;
    try {
      while (!signal.aborted) {
        if (!hasChanged)
          await new Promise<void>((resolve) => {
            wake = resolve;
            if (pauseMs) timer = setTimeout(resolve, pauseMs());
          });
        clearTimeout(timer);
        if (signal.aborted) return;
        const isChange = hasChanged;
        hasChanged = false;
        yield isChange;
      }
    } finally {
      signal.removeEventListener('abort', stop);
      release();
    }
  }

  /** Yields the operation now and at each change of its record, until it closes. @param read reads it, and checks its principal */
  async *watch(
    workflowId: string,
    read: () => Promise<OperationRecord>,
    options: WatchOptions,
  ): AsyncGenerator<WatchedRecord> {
    const { signal } = options;
    let last = '';
    let furthest = -Infinity;
    for await (const _change of this.changes(workflowId, options)) {
      const record = await retryUnavailable(read, signal);
      if (!record) return;
      const { updatedAt: _updatedAt, readAt: _readAt, ...shown } = record;
      const text = JSON.stringify(shown);
      if (text !== last) {
        last = text;
        if (options.progress) this.#watches.get(workflowId)?.quicken();
        const now = record.progress?.progress ?? -Infinity;
        const hasProgressed = now > furthest;
        furthest = Math.max(furthest, now);
        yield { ...record, hasProgressed };
      }
      if (isTerminal(record.status)) return;
    }
  }

  /** Calls back once at the beginning and at each change of a workflow. @returns function that ends it */
  follow(workflowId: string, onChange: () => void): () => void {
    return this.#join(workflowId, { onChange, wantsProgress: false });
  }

  wake(workflowId: string): void {
    this.#watches.get(workflowId)?.notify();
  }

  #join(workflowId: string, watcher: Watcher): () => void {
    let watch = this.#watches.get(workflowId);
    if (!watch) {
      watch = new Watch(this.temporal, this.#limit, workflowId, () => this.#watches.delete(workflowId));
      this.#watches.set(workflowId, watch);
    }
    watch.add(watcher);
    return () => watch.remove(watcher);
  }
}

/** Retries a read while Temporal is unavailable. @returns undefined once the signal has fired */
async function retryUnavailable<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  while (!signal.aborted) {
    try {
      return await read();
    } catch (error) {
      if (!isKind(error, 'unavailable')) throw error;
      await delay(RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
  }
  return undefined;
}

/**
 * Long poll of a workflow, or describes in turn while no long poll is left. The connection can't abandon a poll, so a watch without
 * watchers stays until its poll returns, and new watchers join it.
 */
class Watch {
  readonly #watchers = new Set<Watcher>();
  #tick: NodeJS.Timeout | undefined;
  #tickMs = FIRST_TICK_MS;
  #nextPageToken: Uint8Array | undefined;
  #retryMs = RETRY_MS;
  #described = '';

  constructor(
    private readonly temporal: TemporalClient,
    private readonly limit: PollLimit,
    private readonly workflowId: string,
    private readonly onUnused: () => void,
  ) {
    void this.#follow();
  }

  add(watcher: Watcher): void {
    this.#watchers.add(watcher);
    if (watcher.wantsProgress && !this.#tick) this.#scheduleTick();
  }

  remove(watcher: Watcher): void {
    this.#watchers.delete(watcher);
  }

  notify(onlyProgress = false): void {
    for (const watcher of this.#watchers) if (!onlyProgress || watcher.wantsProgress) watcher.onChange();
  }

  #scheduleTick(): void {
    this.#tick = setTimeout(() => {
      this.#tick = undefined;
      if (![...this.#watchers].some(({ wantsProgress }) => wantsProgress)) return;
      this.notify(true);
      this.#tickMs = Math.min(LONGEST_TICK_MS, this.#tickMs * 1.25);
      this.#scheduleTick();
    }, this.#tickMs);
  }

  /** Progress has changed: reads it again in a second. */
  quicken(): void {
    this.#tickMs = FIRST_TICK_MS;
    if (!this.#tick) return;
    clearTimeout(this.#tick);
    this.#scheduleTick();
  }

  async #follow(): Promise<void> {
    let hasPoll = false;
    do {
      hasPoll ||= this.limit.take();
      const pauseMs = hasPoll ? await this.#poll() : await this.#describe();
      if (pauseMs > 0 && this.#watchers.size > 0)
        await delay(withJitter(pauseMs), undefined, { ref: hasPoll });
    } while (this.#watchers.size > 0);
    if (hasPoll) this.limit.release();
    this.onUnused();
  }

  /** Polls the history from its beginning, then for new events and the next run. @returns pause until the next poll, in milliseconds */
  async #poll(): Promise<number> {
    try {
      const { client } = this.temporal;
      const response = await client.connection.withDeadline(Date.now() + POLL_DEADLINE_MS, () =>
        client.workflowService.getWorkflowExecutionHistory({
          namespace: this.temporal.namespace,
          execution: { workflowId: this.workflowId },
          waitNewEvent: true,
          nextPageToken: this.#nextPageToken,
        }),
      );
      const events = response.history?.events ?? [];
      const types = events.map(({ eventType }) => eventType as number);
      this.#nextPageToken = response.nextPageToken?.length ? response.nextPageToken : undefined;
      this.#retryMs = RETRY_MS;
      // Without a worker, no other event follows an answer.
      if (types.some((type) => CHANGING_EVENTS.has(type)) || events.some(isSignalledAnswer)) this.notify();
      // Without a token this run has ended: the next poll has no run ID and gets the following run.
      const isContinued =
        this.#nextPageToken !== undefined ||
        types.includes(EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW);
      return isContinued ? 0 : this.#retryMs;
    } catch (error) {
      // A limit doesn't change the workflow, and watchers' reads would only meet it too.
      if (isThrottled(error)) return this.#backoffMs(error);
      this.#nextPageToken = undefined;
      if (!isUnreachable(error)) this.notify();
      return this.#retryMs;
    }
  }

  /** Describes the workflow, unless all watchers read its progress anyway. @returns pause in milliseconds */
  async #describe(): Promise<number> {
    if ([...this.#watchers].every(({ wantsProgress }) => wantsProgress)) return DESCRIBE_INTERVAL_MS;
    try {
      const { raw, runId, historyLength } = await this.limit.describeInTurn(() =>
        this.temporal.describe(this.workflowId),
      );
      const described = [runId, historyLength, raw.workflowExecutionInfo?.status].join();
      this.#retryMs = RETRY_MS;
      if (described !== this.#described) this.notify();
      this.#described = described;
      return DESCRIBE_INTERVAL_MS;
    } catch (error) {
      if (isKind(error, 'unavailable')) return this.#backoffMs(error);
      this.notify();
      return DESCRIBE_INTERVAL_MS;
    }
  }

  /** Grows each time. Even with jitter, it's at least what the server asks for. */
  #backoffMs(error: unknown): number {
    this.#retryMs = Math.min(this.#retryMs * 2, LONGEST_RETRY_MS);
    const askedMs = Math.min(retryDelayMs(error) ?? 0, LONGEST_ASKED_MS);
    return Math.max(this.#retryMs, askedMs / LEAST_JITTER);
  }
}

/** Maximum number of describes per tenth of a second, and at a time: 500 workflows are described every 5 s. */
const DESCRIBES_PER_TENTH = 10;
const CONCURRENT_DESCRIBES = 20;

const MAX_POLLS = 500;

/** Limits history long polls, which Temporal caps per namespace and frontend. Workflows without one are described in turn. */
class PollLimit {
  #polls = 0;
  readonly #turns = new PQueue({
    intervalCap: DESCRIBES_PER_TENTH,
    interval: 100,
    strict: true,
    concurrency: CONCURRENT_DESCRIBES,
  });

  /** @param maxPolls maximum number of long polls at a time. Default: 500 */
  constructor(private readonly maxPolls = MAX_POLLS) {}

  get openCount(): number {
    return this.#polls;
  }

  /** Takes a long poll, to be released later. @returns whether one was left */
  take(): boolean {
    if (this.#polls >= this.maxPolls) return false;
    this.#polls += 1;
    return true;
  }

  release(): void {
    this.#polls -= 1;
  }

  /** Describes a workflow in its turn; first come, first served. */
  describeInTurn<T>(describe: () => Promise<T>): Promise<T> {
    return this.#turns.add(describe);
  }
}
