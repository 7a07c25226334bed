/** Data that only the history holds, read from its end. */
import type { Payload } from '@temporalio/common';
import { decodeArrayFromPayloads, ExternalStorageRunner } from '../../platform/temporal/internal/payloads.js';
import proto from '@temporalio/proto';
import { timestampMs, type Timestamp } from '../../platform/temporal/time.js';
import type { TemporalClient } from '../temporal/client.js';
import { traceCall } from '../temporal/trace-calls.js';
import { attempt } from '../../operations/errors.js';
import type { Progress } from '../../operations/record.js';
import { isUnreadable } from '../../operations/wire/unreadable.js';
import { readMemo } from '../../platform/temporal/memo.js';

const { EventType } = proto.temporal.api.enums.v1;

export type HistoryEvent = proto.temporal.api.history.v1.IHistoryEvent;

/** Number of events before a worker takes a run: the start and its first workflow task. */
export const INITIAL_EVENTS = 3;

const PAGE_EVENTS = 100;
const SUMMARY_PAGES = 10;

/** Events that close a workflow. Another run follows a continue-as-new, so it isn't one. */
export const CLOSING_EVENTS: ReadonlySet<number> = new Set([
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT,
]);

export interface CancelRequest {
  /** ISO 8601. */
  at?: string;
  reason?: string;
  /** The operation's progress at the request; missing if it had none, or no Longhaul server requested it. */
  reached?: Reached;
}

export async function cancelRequestOf(
  temporal: TemporalClient,
  workflowId: string,
  runId: string,
): Promise<CancelRequest> {
  for await (const event of eventsFromEnd(temporal, { workflowId, runId }, 1)) {
    const { workflowExecutionCancelRequestedEventAttributes: requested, eventTime } = event;
    if (!requested) continue;
    return {
      ...(eventTime ? { at: toDate(eventTime).toISOString() } : {}),
      ...readCancelCause(requested.cause ?? ''),
    };
  }
  return {};
}

/** Whether a worker has completed a workflow task of a closed run. */
export async function hasBegun(
  temporal: TemporalClient,
  { workflowId, runId }: { workflowId: string; runId: string },
): Promise<boolean> {
  for await (const { eventType } of eventsFromEnd(temporal, { workflowId, runId }, Infinity))
    if (eventType === EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED) return true;
  return false;
}

/** Summary of a pending activity; undefined if it has none, or was scheduled over {@link SUMMARY_PAGES} pages ago. */
export async function activitySummary(
  temporal: TemporalClient,
  workflowId: string,
  activityId: string,
): Promise<string | undefined> {
  for await (const event of eventsFromEnd(temporal, { workflowId }, SUMMARY_PAGES)) {
    if (event.activityTaskScheduledEventAttributes?.activityId !== activityId) continue;
    const { summary } = event.userMetadata ?? {};
    const [text] = await decodeReadable(temporal, summary ? [summary] : []);
    return typeof text === 'string' ? text : undefined;
  }
  return undefined;
}

/**
 * Events of a run, latest first.
 *
 * @param execution without a run ID: the current run
 * @param deadlineMs deadline of a page, in milliseconds. Default: as for any call
 * @throws LonghaulError `not_found`, `unavailable`
 */
export async function* eventsFromEnd(
  temporal: TemporalClient,
  execution: { workflowId: string; runId?: string },
  maxPages: number,
  pageEvents = PAGE_EVENTS,
  deadlineMs?: number,
): AsyncGenerator<HistoryEvent> {
  let nextPageToken: Uint8Array | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    const response = await temporal.call(
      (client) =>
        traceCall('ReadHistory', 'GetWorkflowExecutionHistoryReverse', execution.workflowId, () =>
          client.workflowService.getWorkflowExecutionHistoryReverse({
            namespace: temporal.namespace,
            execution,
            maximumPageSize: pageEvents,
            nextPageToken,
          }),
        ),
      deadlineMs,
    );
    yield* response.history?.events ?? [];
    if (!response.nextPageToken?.length) return;
    nextPageToken = response.nextPageToken;
  }
}

/** Workflow arguments, from the first event. @throws LonghaulError `not_found`, `unavailable`; `internal` if storage lost a large one */
export async function argumentsOf(
  temporal: TemporalClient,
  execution: { workflowId: string; runId: string },
): Promise<unknown[]> {
  return decodePayloads(temporal, (await startOfRun(temporal, execution))?.input?.payloads);
}

/** Attributes of a run's first event. @throws LonghaulError `not_found`, `unavailable` */
export async function startOfRun(temporal: TemporalClient, execution: { workflowId: string; runId: string }) {
  const { history } = await temporal.call((client) =>
    client.workflowService.getWorkflowExecutionHistory({
      namespace: temporal.namespace,
      execution,
      maximumPageSize: 1,
    }),
  );
  return history?.events?.[0]?.workflowExecutionStartedEventAttributes;
}

/** Decodes an event's payloads, and reads large ones from storage. @throws LonghaulError `internal` if one is lost */
export async function decodePayloads(
  { dataConverter }: Pick<TemporalClient, 'dataConverter'>,
  payloads: Payload[] | null | undefined,
): Promise<unknown[]> {
  const { externalStorage } = dataConverter;
  const whole = externalStorage
    ? await new ExternalStorageRunner(externalStorage).retrieve(payloads ?? [])
    : payloads;
  return decodeArrayFromPayloads(dataConverter, whole);
}

/** Decodes payloads of activities and heartbeats, which authors may encode as they like. An unreadable one becomes undefined. */
export async function decodeReadable(
  { dataConverter }: Pick<TemporalClient, 'dataConverter'>,
  payloads: Payload[] | null | undefined,
): Promise<unknown[]> {
  return Promise.all(
    (payloads ?? []).map(async (payload) => {
      const [value] = await decodeArrayFromPayloads(dataConverter, [payload]).catch(() => []);
      return value;
    }),
  );
}

/** Decodes a single field of a memo in a list or history; undefined if it can't be read. */
export async function decodeMemo<T>(
  { dataConverter }: Pick<TemporalClient, 'dataConverter'>,
  fields: Record<string, Payload> | null | undefined,
  name: string,
): Promise<T | undefined> {
  const { [name]: value } = await readMemo(dataConverter, fields, [name]);
  return isUnreadable(value) ? undefined : (value as T | undefined);
}

export function toDate(time: Timestamp): Date {
  return new Date(timestampMs(time));
}

/** Begins the last line of a cause with progress, followed by JSON. */
const PROGRESS_PREFIX = 'longhaul.progress: ';

/** Progress without its message: anyone can read causes, and Temporal encodes messages elsewhere. */
export type Reached = Pick<Progress, 'progress' | 'total'>;

/**
 * Cause of a cancel request: the caller's reason and the operation's progress. It's the only field of the request that Temporal keeps.
 * Temporal drops the last heartbeats of an activity that is cancelled between attempts, and a workflow that doesn't wait for a cancelled
 * activity never sees its last report.
 */
export function cancelCause(reason: string | undefined, progress: Progress | undefined): string | undefined {
  // The empty last line keeps a reason that looks like a cause a reason.
  if (!progress) return reason && readCancelCause(reason).reached ? `${reason}\n` : reason;
  const { message: _message, ...reached } = progress;
  return `${reason ? `${reason}\n` : ''}${PROGRESS_PREFIX}${JSON.stringify(reached)}`;
}

/** Splits a cause. An operator's cause is all reason. */
function readCancelCause(cause: string): { reason?: string; reached?: Reached } {
  const start = cause.lastIndexOf('\n') + 1;
  const reached = cause.startsWith(PROGRESS_PREFIX, start)
    ? reachedIn(cause.slice(start + PROGRESS_PREFIX.length))
    : undefined;
  const reason = reached ? cause.slice(0, Math.max(0, start - 1)) : cause;
  return { ...(reason ? { reason } : {}), ...(reached ? { reached } : {}) };
}

function reachedIn(json: string): Reached | undefined {
  const { progress, total } = attempt(() => JSON.parse(json) as Partial<Reached> | null) ?? {};
  if (typeof progress !== 'number') return undefined;
  return { progress, ...(typeof total === 'number' ? { total } : {}) };
}
