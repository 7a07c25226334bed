/**
 * Events of an operation, as a resumable stream: states and input requests from its history, log lines from storage, each once
 * and in order, from any process; and the current progress. A position alone records what was delivered.
 */
import { isKind, LonghaulError } from '../../operations/errors.js';
import {
  isTerminal,
  type ChildRecord,
  type OperationRecord,
  type Progress,
} from '../../operations/record.js';
import type { Storage } from '../../platform/storage/index.js';
import type { TemporalClient } from '../temporal.js';
import type { Watches } from '../watch.js';
import { streamStepLogs, streamOwnLog, type LogEvent } from './logs.js';
import { startPosition, type EventPosition, type DeliveredState } from './position.js';
import { stateEventsAfter, applyStateEvent, type OperationStateEvent } from './states.js';

export type { EventPosition } from './position.js';

/** First and longest interval between reads of logs and progress, in milliseconds. */
const FIRST_TICK_MS = 1_000;
const LONGEST_TICK_MS = 5_000;
const RETRY_MS = 1_000;
/** How long the steps of a closed operation are queried if no worker answers, in milliseconds. */
const STEPS_LIMIT_MS = 60_000;

/** Event with the position after it. Progress has no position: it is not delivered again. */
export type OperationEvent =
  | ((OperationStateEvent | LogEvent) & { position: EventPosition })
  | { kind: 'progress'; progress: Progress }
  | {
      kind: 'result';
      record: OperationRecord;
      /** Whether log lines may be missing, since no worker could list the steps. */
      areLogsCut: boolean;
      position: EventPosition;
    };

export interface EventOptions {
  /** Ends the stream. */
  signal: AbortSignal;
  /** Position after the last event that the reader has. Default: the beginning. */
  from?: EventPosition;
}

/** Sources of the events of one operation. */
export interface EventSources {
  temporal: TemporalClient;
  storage: Storage;
  watches: Watches;
  workflowId: string;
  read: () => Promise<OperationRecord>;
  /** Completes a record with the operation's parts. */
  readLive: (record: OperationRecord) => Promise<OperationRecord>;
}

/**
 * Yields the events from a position on, until the operation has ended and all are delivered, or the signal fires.
 *
 * @throws LonghaulError `not_found` once the operation is purged; `invalid_arguments` for a position in a log that no longer
 *   exists
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
      const events = reader.next(hasChanged || hasFailed || reader.isStale);
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
  /** Whether more events can be read immediately. */
  hasMore = false;
  /** Whether the operation's parts could not be read. */
  isStale = false;
  #position: EventPosition | undefined;
  #children: ChildRecord[] | undefined;
  #lastProgress = '';
  #queriedSinceMs: number | undefined;

  constructor(
    private readonly sources: EventSources,
    from: EventPosition | undefined,
  ) {
    this.#position = from && structuredClone(from);
  }

  /** Yields pending events. @param hasChanged whether to read state and steps again */
  async *next(hasChanged: boolean): AsyncGenerator<OperationEvent> {
    let record = await this.sources.read();
    if (record.status === 'expired')
      throw new LonghaulError('expired', `${record.token}: the operation has expired`);
    const isEnd = isTerminal(record.status) && !isTerminal(this.#position?.state.status ?? 'unknown');
    if (hasChanged || isEnd) {
      yield* this.#states(record);
      if (isTerminal(this.#position!.state.status) && !isTerminal(record.status))
        record = await this.sources.read();
      await this.#readChildren(record);
    }
    yield* this.#progress(record);
    const areLogsDelivered = yield* this.#logs(record);
    if (!isTerminal(record.status) || !areLogsDelivered) return;
    this.isOver = true;
    const position = { ...this.#copy(), isOver: true as const };
    yield { kind: 'result', record, areLogsCut: this.isStale, position };
  }

  async *#states(record: OperationRecord): AsyncGenerator<OperationEvent> {
    const { runId } = record;
    const before = this.#position;
    const isOtherRun = before !== undefined && before.runId !== runId;
    const position = (this.#position = isOtherRun || !before ? startPosition(runId) : before);
    const { temporal, workflowId } = this.sources;
    const events = await stateEventsAfter(temporal, workflowId, runId, position.event);
    // The history may be newer than the record, and hold an end that the record lacks.
    const isLater = events.at(-1)?.isClose && !isTerminal(record.status);
    const ending = isLater ? (await this.sources.read()).status : record.status;
    // If another run has replaced the position's, readers get its current state, not the events that led to it.
    const latest = isOtherRun ? events.findLastIndex(({ isClose }) => !isClose) : -1;
    for (const [index, event] of events.entries()) {
      const base = index === latest ? undelivered(position.state) : position.state;
      const { state, events: stateEvents } = applyStateEvent(base, event, ending);
      for (const [at, stateEvent] of (index < latest ? [] : stateEvents).entries()) {
        if (at < position.told) continue;
        Object.assign(
          position,
          at + 1 < stateEvents.length ? { told: at + 1, state: base } : { event: event.id, told: 0, state },
        );
        yield { ...stateEvent, position: this.#copy() };
      }
      Object.assign(position, { event: event.id, state });
    }
  }

  async *#progress({ progress }: OperationRecord): AsyncGenerator<OperationEvent> {
    if (!progress) return;
    const text = JSON.stringify(progress);
    if (text === this.#lastProgress) return;
    this.#lastProgress = text;
    yield { kind: 'progress', progress };
  }

  /** Reads the parts: while the operation is open, only its workflow knows them. */
  async #readChildren(record: OperationRecord): Promise<void> {
    const live = await this.sources.readLive(record);
    if (live.children) this.#children = live.children;
    this.isStale = isTerminal(record.status) ? live.areChildrenLarge === true : !live.live;
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
    if (isClosed && this.isStale) {
      this.#queriedSinceMs ??= Date.now();
      if (Date.now() - this.#queriedSinceMs < STEPS_LIMIT_MS) return false;
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
    return structuredClone(this.#position!);
  }
}

/** State as if nothing had been delivered, so that all of it is delivered next. */
function undelivered({ question: _question, ...state }: DeliveredState): DeliveredState {
  return { ...state, status: 'unknown', question: 0 };
}
