/** The watch of one workflow, which all its watchers share. */
import { setTimeout as delay } from 'node:timers/promises';
import proto from '@temporalio/proto';
import PQueue from 'p-queue';
import { isKind } from '../../operations/errors.js';
import { isSignalledAnswer } from '../answer/sent.js';
import { CLOSING_EVENTS } from '../read/history.js';
import {
  GRPC,
  isGrpcError,
  isThrottled,
  isUnreachable,
  retryDelayMs,
} from '../../platform/temporal/grpc-errors.js';
import { LEAST_JITTER, withJitter } from '../../platform/jitter.js';
import type { TemporalClient } from '../temporal/client.js';

const { EventType, HistoryEventFilterType } = proto.temporal.api.enums.v1;
const CLOSE_EVENT = HistoryEventFilterType.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT;

type HistoryRequest = proto.temporal.api.workflowservice.v1.IGetWorkflowExecutionHistoryRequest;

/** First and longest interval between reads of progress, in milliseconds. */
const FIRST_TICK_MS = 1_000;
const LONGEST_TICK_MS = 5_000;
/** Deadline of a long poll, in milliseconds. Temporal ends one after about 20 s. */
const POLL_DEADLINE_MS = 70_000;
/** First and longest pause after a failed long poll, and the pause after a failed read, in milliseconds. */
export const RETRY_MS = 1_000;
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

/** Place in the history of a run: Temporal's page token, which names the run. */
export type Place = Uint8Array;

/** Who waits for changes of a workflow. */
export interface Watcher {
  onChange: () => void;
  wantsProgress: boolean;
}

export interface Watched {
  workflowId: string;
  /** Polls only for the event that closes a run, however long its history is. */
  onlyEnd: boolean;
  /** Where an earlier watch ended. */
  place: Place | undefined;
}

/**
 * Long poll of a workflow, or describes in turn while no long poll is left. The connection can't abandon a poll, so a watch without
 * watchers stays until its poll returns, and new watchers join it.
 */
export class Watch {
  readonly #watchers = new Set<Watcher>();
  #tick: NodeJS.Timeout | undefined;
  #tickMs = FIRST_TICK_MS;
  #retryMs = RETRY_MS;
  #described = '';
  /** Whether the place is from before a pause or an error. Its run may have ended since, and another one may have begun. */
  #isOld: boolean;
  #hasEnded = false;
  #place: Place | undefined;
  readonly #workflowId: string;
  readonly #onlyEnd: boolean;

  constructor(
    private readonly temporal: TemporalClient,
    private readonly limit: PollLimit,
    { workflowId, onlyEnd, place }: Watched,
    private readonly onUnused: (place: Place | undefined) => void,
  ) {
    this.#workflowId = workflowId;
    this.#onlyEnd = onlyEnd;
    this.#place = place;
    this.#isOld = place !== undefined;
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
    this.onUnused(this.#place);
  }

  /** @returns pause until the next poll, in milliseconds */
  async #poll(): Promise<number> {
    try {
      const pauseMs = await this.#nextPoll();
      this.#retryMs = RETRY_MS;
      return pauseMs;
    } catch (error) {
      return this.#afterError(error);
    }
  }

  #nextPoll(): Promise<number> {
    if (this.#onlyEnd) return this.#pollEnd();
    return this.#hasEnded ? this.#lookForRun() : this.#pollRun();
  }

  /** Polls for the end of the current run. Notifies after each poll: some operations end only once somebody reads them. */
  async #pollEnd(): Promise<number> {
    const { history } = await this.#nextEvents({ waitNewEvent: true, historyEventFilterType: CLOSE_EVENT });
    const types = (history?.events ?? []).map(({ eventType }) => eventType as number);
    this.notify();
    return types.some((type) => CLOSING_EVENTS.has(type)) ? RETRY_MS : 0;
  }

  /** Polls a run's history from its place or beginning to its end. */
  async #pollRun(): Promise<number> {
    const { history, nextPageToken } = await this.#nextEvents({
      waitNewEvent: true,
      nextPageToken: this.#place,
    });
    const events = history?.events ?? [];
    const types = events.map(({ eventType }) => eventType as number);
    this.#place = nextPageToken?.length ? nextPageToken : undefined;
    // Without a worker, no other event follows an answer.
    if (types.some((type) => CHANGING_EVENTS.has(type)) || events.some(isSignalledAnswer)) this.notify();
    if (this.#place && events.length === 0) this.#isOld = false;
    const isContinued = types.includes(EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW);
    if (this.#place || isContinued) return 0;
    this.#hasEnded = true;
    return this.#isOld ? 0 : RETRY_MS;
  }

  /** After the end of a run, looks for another one, without reading the history that has ended. */
  async #lookForRun(): Promise<number> {
    const { history } = await this.#nextEvents({ historyEventFilterType: CLOSE_EVENT });
    this.#hasEnded = Boolean(history?.events?.length);
    this.notify();
    return this.#hasEnded ? RETRY_MS : 0;
  }

  #nextEvents(request: HistoryRequest) {
    const { client } = this.temporal;
    return client.connection.withDeadline(Date.now() + POLL_DEADLINE_MS, () =>
      client.workflowService.getWorkflowExecutionHistory({
        namespace: this.temporal.namespace,
        execution: { workflowId: this.#workflowId },
        ...request,
      }),
    );
  }

  /** Keeps the place, unless its run is gone or Temporal doesn't know it, e.g. after a restore. @returns pause in milliseconds */
  #afterError(error: unknown): number {
    // A limit doesn't change the workflow, and watchers' reads would only meet it too.
    if (isThrottled(error)) return this.#backoffMs(error);
    if (!isUnreachable(error)) this.notify();
    const isLost = this.#place !== undefined && isGrpcError(error, GRPC.notFound, GRPC.invalidArgument);
    if (isLost) this.#place = undefined;
    this.#isOld = this.#place !== undefined;
    return isLost ? 0 : this.#retryMs;
  }

  /** Describes the workflow, unless all watchers read its progress anyway. @returns pause in milliseconds */
  async #describe(): Promise<number> {
    if ([...this.#watchers].every(({ wantsProgress }) => wantsProgress)) return DESCRIBE_INTERVAL_MS;
    try {
      const { raw, runId, historyLength } = await this.limit.describeInTurn(() =>
        this.temporal.describe(this.#workflowId),
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
export class PollLimit {
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
