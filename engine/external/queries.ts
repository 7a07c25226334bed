/**
 * Queries of external workflows. Temporal bills each one, and a worker has to answer it. A query is asked only when someone reads, once per
 * process, at most every 10 s, and only if the workflow has run since.
 */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { LRUCache } from 'lru-cache';
import { withTimeout } from '../../platform/with-timeout.js';
import type { TemporalClient } from '../temporal/client.js';

/** Least time between two equal queries to one run, in milliseconds. */
const INTERVAL_MS = 10_000;
/** How long a reader waits for a query's result, in milliseconds, before it gets the previous one. */
const READER_WAIT_MS = 1_000;
/** Deadline of a query, in milliseconds. Without a worker, Temporal itself would wait longer. */
const DEADLINE_MS = 5_000;
const MAX_REMEMBERED = 2_000;

export interface QueryAnswer {
  /** Undefined until a query was answered. */
  value: unknown;
  problem?: string;
  /** Number of history events when the value was given. */
  historyLength: number;
}

interface Asked extends QueryAnswer {
  /** By the monotonic clock, in milliseconds. */
  askedAtMs: number;
  /** Number of history events when it was last asked. */
  askedAtLength: number;
  pending?: Promise<void>;
  timer?: NodeJS.Timeout;
}

export class ExternalQueries {
  readonly #asked = new LRUCache<string, Asked>({ max: MAX_REMEMBERED });

  /** @param wake called when a workflow's state may have changed */
  constructor(
    private readonly temporal: TemporalClient,
    private readonly wake: (workflowId: string) => void,
  ) {}

  /** The latest known result of a query; asks first if it may have changed. Never fails, and waits 1 s at most. */
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

  /** Lets the next reads of a run ask at once, because it was just answered or soon will be. */
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
