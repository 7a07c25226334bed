/**
 * Watching: one history long poll for each watched operation and process, shared by all who wait for it, plus a
 * describe at 2 s growing to 5 s while somebody wants progress. Waiting writes no history and needs no worker.
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
/** A long poll comes back by itself after about 20 s; after this time it is given up, in milliseconds. */
const POLL_DEADLINE_MS = 70_000;
const RETRY_MS = 1_000;

/** Events after which a record reads differently. Progress isn't among them: it writes no events. */
const TELLING_EVENTS: ReadonlySet<number> = new Set([
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

/** Somebody who wants to know when an operation may read differently. */
export interface Listener {
  /** Resolves with whether it may since the last time; at the latest after the pause, or when the signal fires. */
  next(pauseMs: number, signal: AbortSignal): Promise<boolean>;
  release(): void;
}

interface Watcher {
  onChange: () => void;
  wantsProgress: boolean;
}

/** The watched operations of one process. */
export class Watches {
  readonly #watches = new Map<string, Watch>();

  constructor(private readonly temporal: TemporalClient) {}

  /**
   * The operation as it is now, then each time it reads differently, until it is closed.
   *
   * @param read reads the operation, and checks whose it is
   */
  async *watch(
    workflowId: string,
    read: () => Promise<OperationRecord>,
    options: WatchOptions,
  ): AsyncGenerator<OperationRecord> {
    const { signal } = options;
    let wake: () => void = () => undefined;
    let isChanged = true;
    const watcher: Watcher = {
      wantsProgress: options.progress ?? false,
      onChange: () => {
        isChanged = true;
        wake();
      },
    };
    // Subscribe first, then read: nothing that happens between the two is missed.
    const release = this.#join(workflowId, watcher);
    const stop = () => wake();
    signal.addEventListener('abort', stop);
    let last = '';
    try {
      while (!signal.aborted) {
        if (!isChanged) await new Promise<void>((resolve) => (wake = resolve));
        if (signal.aborted) return;
        isChanged = false;
        let record: OperationRecord;
        try {
          record = await read();
        } catch (error) {
          if (!(error instanceof LonghaulError && error.kind === 'unavailable')) throw error;
          await delay(RETRY_MS, undefined, { signal }).catch(() => undefined);
          isChanged = true;
          continue;
        }
        const { updatedAt: _updatedAt, ...telling } = record;
        const text = JSON.stringify(telling);
        if (text !== last) {
          last = text;
          yield record;
        }
        if (isTerminal(record.status)) return;
      }
    } finally {
      signal.removeEventListener('abort', stop);
      release();
    }
  }

  /** Listens for changes of state. Whoever listens reads after that, and misses nothing. */
  listen(workflowId: string): Listener {
    let wake: () => void = () => undefined;
    let hasChanged = false;
    const onChange = () => {
      hasChanged = true;
      wake();
    };
    const release = this.follow(workflowId, onChange);
    return {
      release,
      async next(pauseMs, signal) {
        if (!hasChanged && !signal.aborted) {
          await new Promise<void>((resolve) => {
            wake = () => {
              clearTimeout(timer);
              signal.removeEventListener('abort', wake);
              resolve();
            };
            const timer = setTimeout(wake, pauseMs);
            signal.addEventListener('abort', wake);
          });
        }
        const result = hasChanged;
        hasChanged = false;
        return result;
      },
    };
  }

  /** Tells of each change of a workflow, and once at the beginning, until the result is called. */
  follow(workflowId: string, onChange: () => void): () => void {
    return this.#join(workflowId, { onChange, wantsProgress: false });
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

/**
 * The long poll of one operation. Temporal's connection can't abandon a poll, so a watch that nobody waits for any more
 * stays until its poll returns, and whoever comes meanwhile joins it.
 */
class Watch {
  readonly #watchers = new Set<Watcher>();
  #tick: NodeJS.Timeout | undefined;
  #tickMs = FIRST_TICK_MS;

  constructor(
    private readonly temporal: TemporalClient,
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

  #tell(onlyProgress = false): void {
    for (const watcher of this.#watchers) if (!onlyProgress || watcher.wantsProgress) watcher.onChange();
  }

  #scheduleTick(): void {
    this.#tick = setTimeout(() => {
      this.#tick = undefined;
      if (![...this.#watchers].some(({ wantsProgress }) => wantsProgress)) return;
      this.#tell(true);
      this.#tickMs = Math.min(LONGEST_TICK_MS, this.#tickMs * 1.25);
      this.#scheduleTick();
    }, this.#tickMs);
  }

  /** Follows the history from its beginning, then waits for each new event; goes on with the run that follows. */
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
        if (types.some((type) => TELLING_EVENTS.has(type))) this.#tell();
        // Without a token this run is at its end: the next poll, without a run ID, is for the one that follows.
        if (nextPageToken || types.includes(EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW))
          continue;
      } catch (error) {
        nextPageToken = undefined;
        // Whoever waits finds out what it is by reading.
        if (!isOutOfReach(error)) this.#tell();
      }
      if (this.#watchers.size > 0) await delay(RETRY_MS);
    } while (this.#watchers.size > 0);
    this.onUnused();
  }
}
