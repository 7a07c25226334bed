/**
 * Events of an operation as a resumable stream: states and input requests from its history, log lines from storage, and progress. States,
 * requests and lines come once and in order, from any process; the reader's position is the only record of delivery. Runs that continue as
 * new share one history; any other run is a new attempt.
 */
import { isKind, LonghaulError } from '../../operations/errors.js';
import {
  isTerminal,
  type ChildRecord,
  type OperationRecord,
  type Progress,
} from '../../operations/record.js';
import type { Storage } from '../../platform/storage/index.js';
import { firstRunIdOf } from '../external/adopt.js';
import type { TemporalClient } from '../temporal/client.js';
import type { Watches } from '../watch/index.js';
import { streamStepLogs, streamOwnLog, type LogEvent } from './logs.js';
import { copyPosition, startPosition, type EventPosition } from './position.js';
import {
  applyStateEvent,
  snapshotOf,
  statesAfter,
  type OperationStateEvent,
  type RunStates,
  type StateHistoryEvent,
} from './states.js';

export type { EventPosition } from './position.js';

/** First and longest interval between reads of logs and progress, in milliseconds. */
const FIRST_TICK_MS = 1_000;
const LONGEST_TICK_MS = 5_000;
const RETRY_MS = 1_000;
/** Shortest time between queries for the steps of an open operation, in milliseconds: Temporal bills each, and a worker may replay. */
const STEPS_INTERVAL_MS = 3_000;
/** How long to query a closed operation's steps if no worker answers, in milliseconds. */
const STEPS_LIMIT_MS = 60_000;

/** Event with the position after it. Progress has no position, so it isn't delivered again. */
export type OperationEvent =
  | ((OperationStateEvent | LogEvent) & { position: EventPosition })
  | { kind: 'progress'; progress: Progress }
  | {
      kind: 'result';
      record: OperationRecord;
      /** Whether log lines may be missing because no worker could list the steps. */
      areLogsCut: boolean;
      position: EventPosition;
    };

export interface EventOptions {
  signal: AbortSignal;
  /** Position after the reader's last event. Default: the beginning. */
  from?: EventPosition;
}

export interface EventSources {
  temporal: TemporalClient;
  storage: Storage;
  watches: Watches;
  workflowId: string;
  read: () => Promise<OperationRecord>;
  readLive: (record: OperationRecord) => Promise<OperationRecord>;
  /** Whether an operation of a tool may have steps: only pipelines do. */
  mayHaveSteps: (tool: string) => boolean;
}

/**
 * Yields the events after a position, until the operation has ended and all are delivered, or the signal fires.
 *
 * @throws LonghaulError `not_found` once the operation is purged; `invalid_arguments` for a position in a log that no longer exists
 */
export async function* streamEvents(
  sources: EventSources,
  { signal, from }: EventOptions,
): AsyncGenerator<OperationEvent> {
  const reader = new EventReader(sources, from);
  let tickMs = FIRST_TICK_MS;
  let hasFailed = false;
  const pauseMs = () => (hasFailed ? RETRY_MS : reader.hasMore ? 0 : tickMs);
  for await (const hasChanged of sources.watches.changes(sources.workflowId, { signal, pauseMs })) {
    let hasEvents = false;
    try {
      const events = reader.next(hasChanged || hasFailed);
      hasFailed = false;
      for await (const event of events) {
        hasEvents = true;
        yield event;
        if (signal.aborted) return;
      }
    } catch (error) {
      if (!isKind(error, 'unavailable')) throw error;
      hasFailed = true;
      continue;
    }
    if (reader.isOver) return;
    tickMs = hasEvents ? FIRST_TICK_MS : Math.min(LONGEST_TICK_MS, tickMs * 1.25);
  }
}

class EventReader {
  isOver = false;
  hasMore = false;
  #isStale = false;
  #position: EventPosition | undefined;
  #children: ChildRecord[] | undefined;
  /** Names the work that {@link #children} are as of, and the latest that history shows. */
  #knownWork: string | undefined;
  #latestWork: string | undefined;
  #askedAtMs = -Infinity;
  #lastProgress = '';
  #queriedSinceMs: number | undefined;

  constructor(
    private readonly sources: EventSources,
    from: EventPosition | undefined,
  ) {
    this.#position = from && structuredClone(from);
    // History is only read from there on.
    this.#latestWork = from && 'before the position';
  }

  /** Yields pending events. @param hasChanged whether to read the history */
  async *next(hasChanged: boolean): AsyncGenerator<OperationEvent> {
    let record = await this.sources.read();
    if (record.status === 'expired')
      throw new LonghaulError('expired', `${record.token}: the operation has expired`);
    const { state, runId } = this.#position ?? {};
    const isEnd =
      isTerminal(record.status) && !(runId === record.runId && isTerminal(state?.status ?? 'unknown'));
    if (hasChanged || isEnd) record = yield* this.#states(record);
    await this.#readChildren(record);
    yield* this.#progress(record);
    const areLogsDelivered = yield* this.#logs(record);
    if (!isTerminal(record.status) || !areLogsDelivered) return;
    this.isOver = true;
    const position = { ...this.#copy(), isOver: true as const };
    yield { kind: 'result', record, areLogsCut: this.#isStale, position };
  }

  /** Follows the runs of an attempt. @returns the operation, newer than the given one if its history is */
  async *#states(latest: OperationRecord): AsyncGenerator<OperationEvent, OperationRecord> {
    let record = latest;
    this.#position ??= startPosition(await this.#firstRunId());
    for (;;) {
      const { runId, event, state } = this.#position;
      const run = await this.#read(runId, event);
      const isClosed = isTerminal(state.status) || run?.events.at(-1)?.isClose === true;
      const isLater = record.runId !== runId || !isTerminal(record.status);
      if (!run || (isClosed && isLater)) record = await this.sources.read();
      if (!run || (isClosed && record.runId !== runId)) {
        yield* this.#beginAttempt(record, run === undefined);
        continue;
      }
      yield* this.#tell(run.events, record);
      if (run.continuedAs === undefined) return record;
      Object.assign(this.#position, { runId: run.continuedAs, event: 0 });
    }
  }

  async *#tell(
    events: StateHistoryEvent[],
    { status: ending }: OperationRecord,
  ): AsyncGenerator<OperationEvent> {
    const position = this.#position!;
    for (const event of events) {
      if (event.isClose && !isTerminal(ending)) return;
      const before = position.state;
      const { state, events: all } = applyStateEvent(before, event, ending);
      const { statusUntil = 0 } = position;
      const stateEvents = event.id > statusUntil ? all : all.filter(({ kind }) => kind !== 'status');
      const after = { event: event.id, told: 0, state };
      for (const [at, stateEvent] of stateEvents.entries()) {
        if (at < position.told) continue;
        Object.assign(position, at + 1 < stateEvents.length ? { told: at + 1 } : after);
        yield { ...stateEvent, position: this.#copy() };
      }
      Object.assign(position, after);
      if (event.id >= statusUntil) delete position.statusUntil;
    }
  }

  /** Goes to the current run if no continue-as-new leads there, and gives its state. @param isGap whether the run is no longer kept */
  async *#beginAttempt({ runId }: OperationRecord, isGap: boolean): AsyncGenerator<OperationEvent> {
    const { logs, state, ...before } = this.#position!;
    const first = await this.#firstRunId();
    const isOther = first !== before.first;
    if (isGap && !isOther && before.runId === runId)
      throw new LonghaulError('not_found', 'operation not found');
    const position = (this.#position = startPosition(first, isOther ? first : runId));
    this.#children = undefined;
    if (isOther) return;
    if (isGap) position.logs = logs;
    else {
      // Steps that run again write their logs again; the operation's own log keeps its lines.
      if (logs.own) position.logs.own = logs.own;
      if (state.status === 'unknown') return;
    }
    const run = await this.#read(runId, 0);
    if (!run) throw new LonghaulError('not_found', 'operation not found');
    const snapshot = snapshotOf(run.events);
    const { after, statusUntil, state: shown } = snapshot;
    Object.assign(position, { event: after, state: shown, ...(after < statusUntil ? { statusUntil } : {}) });
    yield { ...snapshot.event, ...(isGap ? { isGap } : {}), position: this.#copy() };
  }

  async #read(runId: string, after: number): Promise<RunStates | undefined> {
    const { temporal, workflowId } = this.sources;
    const run = await statesAfter(temporal, { workflowId, runId }, after);
    if (run?.lastWork !== undefined) this.#latestWork = `${runId} ${run.lastWork}`;
    return run;
  }

  async #firstRunId(): Promise<string> {
    const { temporal, workflowId } = this.sources;
    return firstRunIdOf(await temporal.describe(workflowId));
  }

  async *#progress({ progress }: OperationRecord): AsyncGenerator<OperationEvent> {
    if (!progress) return;
    const text = JSON.stringify(progress);
    if (text === this.#lastProgress) return;
    this.#lastProgress = text;
    yield { kind: 'progress', progress };
  }

  /** Reads the parts if steps may have changed. While the operation is open, only its workflow knows them. */
  async #readChildren(record: OperationRecord): Promise<void> {
    if (!this.sources.mayHaveSteps(record.tool)) return;
    const isClosed = isTerminal(record.status);
    const work = isClosed ? `${record.runId} closed` : this.#latestWork;
    if (work === this.#knownWork) return;
    if (!isClosed && performance.now() - this.#askedAtMs < STEPS_INTERVAL_MS) return;
    this.#askedAtMs = performance.now();
    const live = await this.sources.readLive(record);
    if (live.children) this.#children = live.children;
    this.#isStale = isClosed ? live.areChildrenLarge === true : !live.live;
    if (!this.#isStale) this.#knownWork = work;
  }

  /** @returns whether all logs are complete and delivered */
  async *#logs({ status }: OperationRecord): AsyncGenerator<OperationEvent, boolean> {
    const { storage, workflowId } = this.sources;
    const isClosed = isTerminal(status);
    const ownLog = streamOwnLog(storage, workflowId, this.#position!.logs);
    let own = await ownLog.next();
    for (; !own.done; own = await ownLog.next()) yield { ...own.value, position: this.#copy() };
    const areLogsTold = yield* this.#stepLogs(isClosed);
    this.hasMore ||= own.value;
    return areLogsTold && !own.value;
  }

  async *#stepLogs(isClosed: boolean): AsyncGenerator<OperationEvent, boolean> {
    const { storage, workflowId } = this.sources;
    this.hasMore = false;
    if (isClosed && this.#isStale) {
      this.#queriedSinceMs ??= performance.now();
      if (performance.now() - this.#queriedSinceMs < STEPS_LIMIT_MS) return false;
    }
    if (!this.#children) return isClosed;
    const stepLogs = streamStepLogs(storage, workflowId, this.#children, this.#position!.logs, isClosed);
    for (;;) {
      const { value, done } = await stepLogs.next();
      if (done) {
        this.hasMore = value.hasMore || (isClosed && !value.isDone);
        return value.isDone;
      }
      yield { ...value, position: this.#copy() };
    }
  }

  #copy(): EventPosition {
    return copyPosition(this.#position!);
  }
}
