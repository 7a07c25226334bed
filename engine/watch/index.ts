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
import { PollLimit, RETRY_MS, Watch, type Place, type Watcher } from './watch.js';

/** Maximum number of workflows whose place is kept while nobody watches them: 3 MB. */
const MAX_PLACES = 10_000;

export interface WatchOptions {
  signal: AbortSignal;
  /** Also watch progress between changes of state. Default: false. */
  progress?: boolean;
  /**
   * Wait only for the end: yields the operation now, at its end and when the signal fires, and other changes late or never. Reads one event
   * of each run. Default: false.
   */
  onlyEnd?: boolean;
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
  /** Watches for the end alone. */
  readonly #ends = new Map<string, Watch>();
  /** Where watches have ended, by workflow. The next one continues there, so it reads no event again. */
  readonly #places = new LRUCache<string, Place>({ max: MAX_PLACES });
  readonly #limit: PollLimit;

  constructor(private readonly temporal: TemporalClient) {
    this.#limit = new PollLimit(temporal.maxHistoryPolls);
  }

  /** Numbers of watched operations and of their open long polls. */
  get counts(): { operations: number; polls: number } {
    const watched = new Set([...this.#watches.keys(), ...this.#ends.keys()]);
    return { operations: watched.size, polls: this.#limit.openCount };
  }

  /**
   * Yields at once, then after each possible change, until the signal fires. Merges changes while the consumer is busy; a consumer that
   * reads after each yield misses nothing. Yields false if only the pause has passed.
   */
  async *changes(
    workflowId: string,
    { signal, progress = false, onlyEnd = false, pauseMs }: ChangeOptions,
  ): AsyncGenerator<boolean> {
    let wake: () => void = () => undefined;
    let hasChanged = true;
    const onChange = () => {
      hasChanged = true;
      wake();
    };
    // Subscribe before the first read, so no change in between is missed.
    const release = this.#join(workflowId, { onChange, wantsProgress: progress }, onlyEnd);
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
    let shownBefore = '';
    let furthest = -Infinity;
    for await (const _change of this.changes(workflowId, options)) {
      const record = await retryUnavailable(read, signal);
      if (!record) return;
      const { updatedAt: _updatedAt, readAt: _readAt, ...shown } = record;
      const text = JSON.stringify(shown);
      if (text !== shownBefore) {
        shownBefore = text;
        if (options.progress) this.#watches.get(workflowId)?.quicken();
        const now = record.progress?.progress ?? -Infinity;
        const hasProgressed = now > furthest;
        furthest = Math.max(furthest, now);
        yield { ...record, hasProgressed };
      }
      if (isTerminal(record.status)) return;
    }
    // It may have changed since the last read, without its end.
    const last = options.onlyEnd ? await read().catch(() => undefined) : undefined;
    if (last) yield { ...last, hasProgressed: false };
  }

  /** Calls back once at the beginning and at each change of a workflow. @returns function that ends it */
  follow(workflowId: string, onChange: () => void): () => void {
    return this.#join(workflowId, { onChange, wantsProgress: false });
  }

  wake(workflowId: string): void {
    this.#watches.get(workflowId)?.notify();
  }

  #join(workflowId: string, watcher: Watcher, wantsOnlyEnd = false): () => void {
    // A watch of all changes sees the end too.
    const onlyEnd = wantsOnlyEnd && !this.#watches.has(workflowId);
    const watches = onlyEnd ? this.#ends : this.#watches;
    const watch = watches.get(workflowId) ?? this.#begin(workflowId, onlyEnd, watches);
    watch.add(watcher);
    return () => watch.remove(watcher);
  }

  #begin(workflowId: string, onlyEnd: boolean, watches: Map<string, Watch>): Watch {
    const place = onlyEnd ? undefined : this.#places.get(workflowId);
    const watch = new Watch(this.temporal, this.#limit, { workflowId, onlyEnd, place }, (last) => {
      watches.delete(workflowId);
      if (onlyEnd) return;
      if (last) this.#places.set(workflowId, last);
      else this.#places.delete(workflowId);
    });
    watches.set(workflowId, watch);
    return watch;
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
