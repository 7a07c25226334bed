/**
 * Watching: one history long poll per watched workflow and process, shared by all its watchers, plus a look at 2 s
 * growing to 5 s while somebody wants progress. Watchers that read at the same moment share the read. Waiting writes no
 * history and needs no worker.
 */
import { setTimeout as delay } from 'node:timers/promises';
import proto from '@temporalio/proto';
import { LonghaulError } from '../operations/errors.js';
import { isTerminal, type OperationRecord } from '../operations/record.js';
import { CLOSING_EVENTS } from './history.js';
import { isOutOfReach, type TemporalClient } from './temporal.js';

const { EventType } = proto.temporal.api.enums.v1;

/** First and longest pause between looks for progress, in milliseconds. */
const FIRST_TICK_MS = 2_000;
const LONGEST_TICK_MS = 5_000;
/** Deadline of a long poll, in milliseconds. Temporal ends one by itself after about 20 s. */
const POLL_DEADLINE_MS = 70_000;
const RETRY_MS = 1_000;

/** Events after which a record reads differently. Progress isn't among them: it writes no events. */
const CHANGING_EVENTS: ReadonlySet<number> = new Set([
  EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED,
  EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED,
  EventType.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED,
  ...CLOSING_EVENTS,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW,
]);

export interface WatchOptions {
  /** Ends the watch. */
  signal: AbortSignal;
  /** Also look for progress between changes of state. Default: false. */
  progress?: boolean;
}

/** A record as a watch yields it. */
export interface WatchedRecord extends OperationRecord {
  /**
   * Whether its progress is above all that this watch has yielded: notifications of one progress token have to increase
   * (specs: 2026-07-28 basic/patterns/progress, "Progress Flow").
   */
  hasProgressed: boolean;
}

interface ChangeOptions extends WatchOptions {
  /** Milliseconds after which to yield although nothing has changed. Default: only changes are yielded. */
  pauseMs?: () => number;
}

interface Watcher {
  onChange: () => void;
  wantsProgress: boolean;
}

/** The watched workflows of one process. */
export class Watches {
  readonly #watches = new Map<string, Watch>();

  constructor(private readonly temporal: TemporalClient) {}

  /**
   * Yields at once, then each time that the workflow may read differently, until the signal fires. Several changes before
   * the consumer is back count as one. A consumer that reads after each yield misses nothing.
   *
   * @returns whether there was a change, or only the pause has passed
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
    // Subscribe first, then read: nothing that happens between the two is missed.
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

  /**
   * The operation as it is now, then each time it reads differently, until it is closed.
   *
   * @param read reads the operation, and checks its principal
   * @param reader names who may read the operation: watchers of the same name share reads
   */
  async *watch(
    workflowId: string,
    reader: string,
    read: () => Promise<OperationRecord>,
    options: WatchOptions,
  ): AsyncGenerator<WatchedRecord> {
    const { signal } = options;
    let last = '';
    let furthest = -Infinity;
    for await (const _change of this.changes(workflowId, options)) {
      const record = await retryUnavailable(() => this.read(workflowId, reader, read), signal);
      if (!record) return;
      const { updatedAt: _updatedAt, ...shown } = record;
      const text = JSON.stringify(shown);
      if (text !== last) {
        last = text;
        const now = record.progress?.progress ?? -Infinity;
        const hasProgressed = now > furthest;
        furthest = Math.max(furthest, now);
        yield { ...record, hasProgressed };
      }
      if (isTerminal(record.status)) return;
    }
  }

  /** Calls back at each change of a workflow, and once at the beginning, until the result is called. */
  follow(workflowId: string, onChange: () => void): () => void {
    return this.#join(workflowId, { onChange, wantsProgress: false });
  }

  /** Reads a watched operation; shares a read that began after its latest change and is still under way. */
  read(workflowId: string, reader: string, read: () => Promise<OperationRecord>): Promise<OperationRecord> {
    return this.#watches.get(workflowId)?.read(reader, read) ?? read();
  }

  #join(workflowId: string, watcher: Watcher): () => void {
    let watch = this.#watches.get(workflowId);
    if (!watch) {
      watch = new Watch(this.temporal, workflowId, () => this.#watches.delete(workflowId));
      this.#watches.set(workflowId, watch);
    }
    watch.add(watcher);
    return () => watch.remove(watcher);
  }
}

/** @returns undefined once the signal has fired */
async function retryUnavailable<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  while (!signal.aborted) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof LonghaulError && error.kind === 'unavailable')) throw error;
      await delay(RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
  }
  return undefined;
}

/**
 * The long poll of one workflow. Temporal's connection can't abandon a poll, so a watch without watchers stays until its
 * poll returns, and watchers that come meanwhile join it.
 */
class Watch {
  readonly #watchers = new Set<Watcher>();
  #tick: NodeJS.Timeout | undefined;
  #tickMs = FIRST_TICK_MS;
  /** Reads under way that began after the latest change, by reader. */
  #reads = new Map<string, Promise<OperationRecord>>();

  constructor(
    private readonly temporal: TemporalClient,
    private readonly workflowId: string,
    private readonly onUnused: () => void,
  ) {
    void this.#follow();
  }

  add(watcher: Watcher): void {
    this.#watchers.add(watcher);
    // What is under way may be older than what the new watcher knows already.
    this.#reads = new Map();
    if (watcher.wantsProgress && !this.#tick) this.#scheduleTick();
  }

  remove(watcher: Watcher): void {
    this.#watchers.delete(watcher);
  }

  read(reader: string, read: () => Promise<OperationRecord>): Promise<OperationRecord> {
    const reads = this.#reads;
    let shared = reads.get(reader);
    if (!shared) {
      shared = read().finally(() => reads.delete(reader));
      reads.set(reader, shared);
    }
    return shared;
  }

  #notify(onlyProgress = false): void {
    this.#reads = new Map();
    for (const watcher of this.#watchers) if (!onlyProgress || watcher.wantsProgress) watcher.onChange();
  }

  #scheduleTick(): void {
    this.#tick = setTimeout(() => {
      this.#tick = undefined;
      if (![...this.#watchers].some(({ wantsProgress }) => wantsProgress)) return;
      this.#notify(true);
      this.#tickMs = Math.min(LONGEST_TICK_MS, this.#tickMs * 1.25);
      this.#scheduleTick();
    }, this.#tickMs);
  }

  /** Polls the history from its beginning, then for each new event; continues with the run that follows. */
  async #follow(): Promise<void> {
    let nextPageToken: Uint8Array | undefined;
    do {
      try {
        const { client } = this.temporal;
        const response = await client.connection.withDeadline(Date.now() + POLL_DEADLINE_MS, () =>
          client.workflowService.getWorkflowExecutionHistory({
            namespace: this.temporal.namespace,
            execution: { workflowId: this.workflowId },
            waitNewEvent: true,
            ...(nextPageToken ? { nextPageToken } : {}),
          }),
        );
        const types = (response.history?.events ?? []).map(({ eventType }) => eventType as number);
        nextPageToken = response.nextPageToken?.length ? response.nextPageToken : undefined;
        if (types.some((type) => CHANGING_EVENTS.has(type))) this.#notify();
        // Without a token this run is at its end: the next poll, without a run ID, is for the one that follows.
        if (nextPageToken || types.includes(EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW))
          continue;
      } catch (error) {
        nextPageToken = undefined;
        // Watchers find out what it is by reading.
        if (!isOutOfReach(error)) this.#notify();
      }
      if (this.#watchers.size > 0) await delay(RETRY_MS);
    } while (this.#watchers.size > 0);
    this.onUnused();
  }
}
