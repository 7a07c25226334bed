/** The calls of `longhaul discover`: slow, one at a time, because others share the namespace's limits. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { RunInfo } from '../../engine/list/current-runs.js';
import type { HistoryEvent } from '../../engine/read/history.js';
import {
  GRPC,
  isDenied,
  isGrpcError,
  isThrottled,
  temporalMessage,
} from '../../platform/temporal/grpc-errors.js';
import { anyOf, quote } from '../../platform/temporal/visibility-query.js';
import { EXIT } from '../client/exit-codes.js';
import { CommandFailure } from '../failure.js';
import { definitionsOf, type Definitions } from './observed.js';
import { decodePayload } from './seen-values.js';

/** Most pages of the list of runs, and runs in each. */
const MAX_PAGES = 10;
const PAGE_RUNS = 1_000;
/** Most workflow types, starting with the most runs. */
export const MAX_TYPES = 100;
/** Most pages of a history, and events in each. Of a longer history, reads the beginning and the last event. */
const HISTORY_PAGES = 3;
const PAGE_EVENTS = 500;
/** Most open runs of each type that are described, to find heartbeats. */
export const MAX_OPEN = 3;
/** Most parents of child workflows that are described. */
export const MAX_PARENTS = 20;

export interface Selection {
  /** ISO 8601. */
  since: string;
  types: string[];
  taskQueue?: string;
  /** Histories of each type. */
  runs: number;
  /** Whether to ask a worker of each type for its definitions. */
  asksWorkers: boolean;
}

/** Deadline of a call: Temporal's SDK retries a throttled one for some 35 s before it reports that. */
const CALL_LIMIT_MS = 60_000;
/** Deadline of a query: without a worker, Temporal itself waits longer. */
const QUERY_LIMIT_MS = 10_000;
/** Least time between two calls. Temporal's default limit is 10 lists a second for a whole namespace. */
const LIST_INTERVAL_MS = 500;
const READ_INTERVAL_MS = 50;
/** Temporal's proto: HistoryEventFilterType. */
const CLOSE_EVENT = 2;
/** Temporal's SDKs answer this query with the definitions of queries, signals and updates. */
const DEFINITIONS_QUERY = '__temporal_workflow_metadata';

type Execution = { workflowId: string; runId: string };

/** The lines that announce the calls. */
export function planOf(namespace: string, address: string, selection: Selection): string[] {
  const { types, runs, asksWorkers } = selection;
  const number = types.length > 0 ? `${Math.min(types.length, MAX_TYPES)}` : `at most ${MAX_TYPES}`;
  return [
    `Reads the namespace ${namespace} of Temporal at ${address}, and changes nothing:`,
    `  lists of runs:   at most ${MAX_PAGES} calls, ${PAGE_RUNS} runs each: those ${filtersOf(selection)}`,
    `  histories:       of at most ${runs} runs of each workflow type (${number} types), at most ${HISTORY_PAGES + 1} calls each`,
    `  descriptions:    of at most ${MAX_OPEN} open runs of each type, and of at most ${MAX_PARENTS} parents of child workflows`,
    asksWorkers
      ? '  queries:         one to an open run of each type, for its definitions; Temporal bills it, and a worker answers it'
      : '  queries:         none; --query asks one open run of each type for its definitions',
    'Values in histories are read for their types. Drafts have names and types, never values.',
  ];
}

/** The runs in words: `since 2026-11-21T00:00:00Z, of RefundWorkflow`. */
export function filtersOf({ since, types, taskQueue }: Selection): string {
  const parts = [
    `since ${since}`,
    types.length > 0 && `of ${types.join(', ')}`,
    taskQueue !== undefined && `on the task queue ${taskQueue}`,
  ];
  return parts.filter(Boolean).join(', ');
}

export class TemporalReads {
  #lastCallMs = -Infinity;

  constructor(private readonly client: Client) {}

  get namespace(): string {
    return this.client.options.namespace;
  }

  /** Runs, latest first. @returns also whether there are more */
  async runs({ since, types, taskQueue }: Selection): Promise<{ infos: RunInfo[]; isLimited: boolean }> {
    const query = [
      `StartTime >= ${quote(since)}`,
      ...(types.length > 0 ? [`WorkflowType ${anyOf(types)}`] : []),
      ...(taskQueue === undefined ? [] : [`TaskQueue = ${quote(taskQueue)}`]),
    ].join(' AND ');
    const infos: RunInfo[] = [];
    let next: Uint8Array | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const { executions, nextPageToken } = await this.#call('ListWorkflowExecutions', LIST_INTERVAL_MS, () =>
        this.client.workflowService.listWorkflowExecutions({
          namespace: this.namespace,
          ...{ query, pageSize: PAGE_RUNS },
          nextPageToken: next,
        }),
      );
      infos.push(...(executions ?? []));
      if (!nextPageToken?.length) return { infos, isLimited: false };
      next = nextPageToken;
    }
    return { infos, isLimited: true };
  }

  /** The first events of a run, and its last. Empty if the run is gone. */
  async history(execution: Execution): Promise<HistoryEvent[]> {
    const events: HistoryEvent[] = [];
    let next: Uint8Array | undefined;
    const read = (more: object) =>
      this.#unlessGone(
        this.#call('GetWorkflowExecutionHistory', READ_INTERVAL_MS, () =>
          this.client.workflowService.getWorkflowExecutionHistory({
            ...{ namespace: this.namespace, execution, maximumPageSize: PAGE_EVENTS },
            ...more,
          }),
        ),
      );
    for (let page = 0; page < HISTORY_PAGES; page += 1) {
      const response = await read({ nextPageToken: next });
      events.push(...(response?.history?.events ?? []));
      if (!response?.nextPageToken?.length) return events;
      next = response.nextPageToken;
    }
    const last = await read({ historyEventFilterType: CLOSE_EVENT });
    return [...events, ...(last?.history?.events ?? [])];
  }

  /** Description of a run; undefined if it is gone. */
  async describe(execution: Execution) {
    return this.#unlessGone(
      this.#call('DescribeWorkflowExecution', READ_INTERVAL_MS, () =>
        this.client.workflowService.describeWorkflowExecution({ namespace: this.namespace, execution }),
      ),
    );
  }

  /** Asks an open run's worker for its definitions; undefined if none answers, or its SDK is older than this query. */
  async definitions(execution: Execution): Promise<Definitions | undefined> {
    await this.#pace(READ_INTERVAL_MS);
    try {
      const { queryResult } = await this.client.withDeadline(Date.now() + QUERY_LIMIT_MS, () =>
        this.client.workflowService.queryWorkflow({
          ...{ namespace: this.namespace, execution, query: { queryType: DEFINITIONS_QUERY } },
        }),
      );
      const decoded = decodePayload(queryResult?.payloads?.[0] ?? {});
      return 'value' in decoded ? definitionsOf(decoded.value) : undefined;
    } catch (error) {
      if (isThrottled(error) || isDenied(error)) throw this.#failure('QueryWorkflow', error);
      return undefined;
    }
  }

  async #unlessGone<T>(call: Promise<T>): Promise<T | undefined> {
    try {
      return await call;
    } catch (error) {
      if (isGrpcError(error, GRPC.notFound)) return undefined;
      throw error;
    }
  }

  async #call<T>(method: string, intervalMs: number, call: () => Promise<T>): Promise<T> {
    await this.#pace(intervalMs);
    try {
      return await this.client.withDeadline(Date.now() + CALL_LIMIT_MS, call);
    } catch (error) {
      throw this.#failure(method, error);
    }
  }

  async #pace(intervalMs: number): Promise<void> {
    const waitMs = this.#lastCallMs + intervalMs - performance.now();
    if (waitMs > 0) await delay(waitMs);
    this.#lastCallMs = performance.now();
  }

  /** Other errors pass through. */
  #failure(method: string, error: unknown): unknown {
    if (method === 'ListWorkflowExecutions' && isGrpcError(error, GRPC.notFound))
      return new CommandFailure(
        `Temporal has no namespace "${this.namespace}"; name one that exists: in TEMPORAL_NAMESPACE, or by --namespace`,
        EXIT.notFound,
      );
    if (isDenied(error))
      return new CommandFailure(
        `the credentials don't allow ${method} in the namespace "${this.namespace}", or there is none of this name: ${temporalMessage(error)}`,
        EXIT.unreachable,
      );
    if (isThrottled(error))
      return new CommandFailure(
        `Temporal limits the calls in the namespace "${this.namespace}" (${temporalMessage(error)}); try again later, or read less, by --since, --type or --runs`,
        EXIT.unreachable,
      );
    return error;
  }
}
