/**
 * Watches of operations: one history long poll per watched workflow and process, shared by all watchers. While a watcher wants progress, it
 * is read every second, and up to every 5 s without changes. Beyond the limit of long polls, workflows are described in turn. Waiting
 * writes no history and needs no worker.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { isKind } from '../../operations/errors.js';
import { isTerminal, type OperationRecord } from '../../operations/record.js';
import type { TemporalClient } from '../temporal/client.js';
import { PollLimit } from './poll-limit.js';
import { RETRY_MS, Watch, type Place, type Watcher } from './watch.js';

/** Maximum number of workflows whose place is kept while nobody watches them: 3 MB. */
const MAX_PLACES = 10_000;

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

export class Watches {
  readonly #watches = new Map<string, Watch>();
  /** Where watches have ended, by workflow. The next one continues there, so it reads no event again. */
  readonly #places = new LRUCache<string, Place>({ max: MAX_PLACES });
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
      const place = this.#places.get(workflowId);
      watch = new Watch(this.temporal, this.#limit, workflowId, place, (last) => this.#end(workflowId, last));
      this.#watches.set(workflowId, watch);
    }
    watch.add(watcher);
    return () => watch.remove(watcher);
  }

  #end(workflowId: string, place: Place | undefined): void {
    this.#watches.delete(workflowId);
    if (place) this.#places.set(workflowId, place);
    else this.#places.delete(workflowId);
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
