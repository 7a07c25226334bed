/**
 * An operation's events, for readers that come and go: states and questions from its history, log lines from storage,
 * each once and in order, whichever process tells them; progress as it is. What was told is known by a position alone.
 */
import { LonghaulError } from '../../operations/errors.js';
import {
  isTerminal,
  type ChildRecord,
  type OperationRecord,
  type Progress,
} from '../../operations/record.js';
import type { Storage } from '../../platform/storage.js';
import type { TemporalClient } from '../temporal.js';
import type { Watches } from '../watch.js';
import { tellLogs, tellOwnLog, type LogTelling } from './logs.js';
import { beginningOf, type EventPosition, type ToldState } from './position.js';
import { stateEventsAfter, tell, type Telling } from './states.js';

export type { EventPosition } from './position.js';

/** First and longest pause between two looks at logs and progress, in milliseconds. */
const FIRST_TICK_MS = 1_000;
const LONGEST_TICK_MS = 5_000;
const RETRY_MS = 1_000;
/** How long a closed operation's steps are asked for when no worker answers, in milliseconds. */
const STEPS_PATIENCE_MS = 60_000;

/** What a reader is told, with the position behind it; progress has none, since it is never told again. */
export type OperationEvent =
  | ((Telling | LogTelling) & { position: EventPosition })
  | { kind: 'progress'; progress: Progress }
  | {
      kind: 'result';
      record: OperationRecord;
      /** No worker could say which steps there were: their logs may hold more than was told. */
      areLogsCut: boolean;
      position: EventPosition;
    };

export interface EventOptions {
  /** Ends it. */
  signal: AbortSignal;
  /** Position behind what the reader has. Default: the beginning. */
  from?: EventPosition;
}

/** What the events of one operation are made from. */
export interface EventSources {
  temporal: TemporalClient;
  storage: Storage;
  watches: Watches;
  workflowId: string;
  read: () => Promise<OperationRecord>;
  /** Reads it as watchers do: a read may be shared with them. */
  readShared: () => Promise<OperationRecord>;
  /** Completes a record with the operation's parts. */
  readLive: (record: OperationRecord) => Promise<OperationRecord>;
}

/**
 * Tells the events from a position on, until the operation has ended and everything is told, or the signal fires.
 *
 * @throws LonghaulError `not_found`, once it is purged; `invalid_arguments` for a position in a log that isn't there any more
 */
export async function* streamEvents(
  sources: EventSources,
  { signal, from }: EventOptions,
): AsyncGenerator<OperationEvent> {
  const reader = new EventReader(sources, from);
  let tickMs = FIRST_TICK_MS;
  let hasFailed = false;
  const pauseMs = () => (hasFailed ? RETRY_MS : reader.isBehind ? 0 : tickMs);
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
      if (!(error instanceof LonghaulError && error.kind === 'unavailable')) throw error;
      hasFailed = true;
      continue;
    }
    if (reader.isOver) return;
    tickMs = hasEvents ? FIRST_TICK_MS : Math.min(LONGEST_TICK_MS, tickMs * 1.25);
  }
}

class EventReader {
  isOver = false;
  /** There is more to tell at once. */
  isBehind = false;
  /** What the operation consists of couldn't be read. */
  isStale = false;
  #position: EventPosition | undefined;
  #children: ChildRecord[] | undefined;
  #lastProgress = '';
  #askedSince: number | undefined;

  constructor(
    private readonly sources: EventSources,
    from: EventPosition | undefined,
  ) {
    this.#position = from && structuredClone(from);
  }

  /** Tells what there is now. @param hasChanged may the state and the steps be others than at the last look? */
  async *next(hasChanged: boolean): AsyncGenerator<OperationEvent> {
    let record = await this.sources.readShared();
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
    const areLogsTold = yield* this.#logs(record);
    if (!isTerminal(record.status) || !areLogsTold) return;
    this.isOver = true;
    const position = { ...this.#copy(), isOver: true as const };
    yield { kind: 'result', record, areLogsCut: this.isStale, position };
  }

  async *#states(record: OperationRecord): AsyncGenerator<OperationEvent> {
    const { runId } = record;
    const before = this.#position;
    const isFork = before !== undefined && before.runId !== runId;
    const position = (this.#position = isFork || !before ? beginningOf(runId) : before);
    const { temporal, workflowId } = this.sources;
    const events = await stateEventsAfter(temporal, workflowId, runId, position.event);
    // History may have been read later, and have the end that the record lacked.
    const isLater = events.at(-1)?.isClose && !isTerminal(record.status);
    const ending = isLater ? (await this.sources.read()).status : record.status;
    // Of a run that has taken another's place readers get the state as it is, not how it came about.
    const latest = isFork ? events.findLastIndex(({ isClose }) => !isClose) : -1;
    for (const [index, event] of events.entries()) {
      const base = index === latest ? fresh(position.state) : position.state;
      const { state, tellings } = tell(base, event, ending);
      for (const [at, telling] of (index < latest ? [] : tellings).entries()) {
        if (at < position.told) continue;
        Object.assign(
          position,
          at + 1 < tellings.length ? { told: at + 1, state: base } : { event: event.id, told: 0, state },
        );
        yield { ...telling, position: this.#copy() };
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

  /** Which parts there are, only their workflow knows while it is open. */
  async #readChildren(record: OperationRecord): Promise<void> {
    const live = await this.sources.readLive(record);
    if (live.children) this.#children = live.children;
    this.isStale = isTerminal(record.status) ? live.areChildrenLarge === true : !live.live;
  }

  /** @returns whether all is told that there will ever be */
  async *#logs({ status }: OperationRecord): AsyncGenerator<OperationEvent, boolean> {
    const { storage, workflowId } = this.sources;
    const isClosed = isTerminal(status);
    const telling = tellOwnLog(storage, workflowId, this.#position!.logs);
    let own = await telling.next();
    for (; !own.done; own = await telling.next()) yield { ...own.value, position: this.#copy() };
    const areLogsTold = yield* this.#stepLogs(isClosed);
    this.isBehind ||= own.value;
    return areLogsTold && !own.value;
  }

  async *#stepLogs(isClosed: boolean): AsyncGenerator<OperationEvent, boolean> {
    const { storage, workflowId } = this.sources;
    this.isBehind = false;
    if (isClosed && this.isStale) {
      this.#askedSince ??= Date.now();
      if (Date.now() - this.#askedSince < STEPS_PATIENCE_MS) return false;
    }
    if (!this.#children) return isClosed;
    const telling = tellLogs(storage, workflowId, this.#children, this.#position!.logs, isClosed);
    for (;;) {
      const { value, done } = await telling.next();
      if (done) {
        this.isBehind = value.isBehind || (isClosed && !value.isDone);
        return value.isDone;
      }
      yield { ...value, position: this.#copy() };
    }
  }

  #copy(): EventPosition {
    return structuredClone(this.#position!);
  }
}

/** As if nothing of it had been told, so that all of it is. */
function fresh({ question: _question, ...state }: ToldState): ToldState {
  return { ...state, status: 'unknown', question: 0 };
}
