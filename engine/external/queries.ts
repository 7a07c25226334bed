/**
 * Queries of external workflows. Temporal bills each, and each costs a worker's time, so a query is asked only for a reader, once
 * for all of a process, at most every 10 s, and only if the workflow has run since: a query's result depends on nothing else.
 */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { LRUCache } from 'lru-cache';
import { withTimeout } from '../../platform/with-timeout.js';
import type { TemporalClient } from '../temporal.js';

/** Least time between two queries of a kind to one run, in milliseconds. */
const INTERVAL_MS = 10_000;
/** How long a reader waits for a query's result, in milliseconds; then it gets the one before. */
const READER_WAIT_MS = 1_000;
/** Deadline of a query, in milliseconds: without a worker, Temporal itself waits for longer. */
const DEADLINE_MS = 5_000;
/** Maximum number of results that are remembered. */
const MAX_REMEMBERED = 2_000;

export interface QueryAnswer {
  /** Undefined until a query has been answered. */
  value: unknown;
  /** Why the latest query failed. */
  problem?: string;
  /** Events of the history when the value was given. */
  historyLength: number;
}

interface Asked extends QueryAnswer {
  /** Monotonic clock, in milliseconds. */
  askedAtMs: number;
  /** Events of the history when it was last asked. */
  askedAtLength: number;
  pending?: Promise<void>;
  timer?: NodeJS.Timeout;
}

export class ExternalQueries {
  /** By run ID and query. */
  readonly #asked = new LRUCache<string, Asked>({ max: MAX_REMEMBERED });

  /** @param wake called when a workflow's state may read differently than before */
  constructor(
    private readonly temporal: TemporalClient,
    private readonly wake: (workflowId: string) => void,
  ) {}

  /** The latest known result of a query; asks first if it may have changed. Never fails, and waits for at most 1 s. */
  async read(description: WorkflowExecutionDescription, query: string): Promise<QueryAnswer> {
    const { workflowId, runId, historyLength } = description;
    const key = `${runId}\n${query}`;
    const asked: Asked = this.#asked.get(key) ?? {
      ...{ value: undefined, historyLength: 0, askedAtMs: -Infinity, askedAtLength: -1 },
    };
    this.#asked.set(key, asked);
    if (!asked.pending && (asked.askedAtLength !== historyLength || asked.problem !== undefined)) {
      const waitMs = asked.askedAtMs + INTERVAL_MS - performance.now();
      if (waitMs <= 0) asked.pending = this.#ask(asked, description, query);
      else
        asked.timer ??= setTimeout(() => {
          delete asked.timer;
          this.wake(workflowId);
        }, waitMs).unref();
    }
    if (asked.pending) await withTimeout(asked.pending, READER_WAIT_MS);
    return asked;
  }

  /** Has the next reads of a run ask at once, since it was just answered or is about to be. */
  expire(runId: string): void {
    for (const [key, asked] of this.#asked)
      if (key.startsWith(`${runId}\n`)) {
        asked.askedAtMs = -Infinity;
        asked.askedAtLength = -1;
      }
  }

  async #ask(asked: Asked, description: WorkflowExecutionDescription, query: string): Promise<void> {
    const { workflowId, runId, historyLength } = description;
    const before = JSON.stringify([asked.value, asked.problem]);
    asked.askedAtMs = performance.now();
    asked.askedAtLength = historyLength;
    try {
      asked.value = await this.temporal.call(
        (client) => client.workflow.getHandle(workflowId, runId).query(query),
        DEADLINE_MS,
      );
      asked.historyLength = historyLength;
      delete asked.problem;
    } catch (error) {
      asked.problem = `its query ${query} failed: ${(error as Error).message.split('\n', 1)[0]}`;
    } finally {
      delete asked.pending;
      if (JSON.stringify([asked.value, asked.problem]) !== before) this.wake(workflowId);
    }
  }
}
