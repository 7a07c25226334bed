/** Calls Temporal slowly, one call at a time, because others share the namespace's limits. */
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
import { HISTORY_PAGES, MAX_PAGES, PAGE_EVENTS, PAGE_RUNS, type Selection } from './plan.js';
import { decodePayload } from './seen-values.js';

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
          ...(next ? { nextPageToken: next } : {}),
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
      const response = await read(next ? { nextPageToken: next } : {});
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
