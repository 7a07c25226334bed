/** What only the history holds, read from its end. */
import { decodeArrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow/index.js';
import proto from '@temporalio/proto';
import type { TemporalClient } from './temporal.js';

const { EventType } = proto.temporal.api.enums.v1;

export type HistoryEvent = proto.temporal.api.history.v1.IHistoryEvent;

/** Events of a run that no worker has taken yet, at most: the start and its first workflow task. */
export const UNTAKEN_EVENTS = 3;

/** Events of a page of history. */
const PAGE_EVENTS = 100;
/** Pages that are read for an activity's summary. */
const SUMMARY_PAGES = 10;

/** Events that end a run for good; a run that continues as new has another one. */
export const CLOSING_EVENTS: ReadonlySet<number> = new Set([
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT,
]);

/** When and why cancel was requested: Temporal keeps both in its event. */
export async function cancelRequestOf(
  temporal: TemporalClient,
  workflowId: string,
  runId?: string,
): Promise<{ at?: string; reason?: string }> {
  const event = await findLastEvent(
    temporal,
    workflowId,
    runId,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED,
  );
  const reason = event?.workflowExecutionCancelRequestedEventAttributes?.cause;
  return {
    ...(event?.eventTime ? { at: toDate(event.eventTime).toISOString() } : {}),
    ...(reason ? { reason } : {}),
  };
}

/** Why the last workflow task failed. */
export async function lastTaskFailure(
  temporal: TemporalClient,
  workflowId: string,
): Promise<string | undefined> {
  const event = await findLastEvent(
    temporal,
    workflowId,
    undefined,
    EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED,
  );
  return event?.workflowTaskFailedEventAttributes?.failure?.message ?? undefined;
}

async function findLastEvent(
  temporal: TemporalClient,
  workflowId: string,
  runId: string | undefined,
  type: number,
): Promise<HistoryEvent | undefined> {
  for await (const event of eventsFromEnd(temporal, { workflowId, ...(runId ? { runId } : {}) }, 1))
    if (event.eventType === type) return event;
  return undefined;
}

/**
 * The summary of an activity that is pending.
 *
 * @returns undefined when it has none, or was scheduled more than {@link SUMMARY_PAGES} pages of history ago
 */
export async function activitySummary(
  temporal: TemporalClient,
  workflowId: string,
  activityId: string,
): Promise<string | undefined> {
  for await (const event of eventsFromEnd(temporal, { workflowId }, SUMMARY_PAGES)) {
    if (event.activityTaskScheduledEventAttributes?.activityId !== activityId) continue;
    const { summary } = event.userMetadata ?? {};
    const [text] = await decodeArrayFromPayloads(temporal.dataConverter, summary ? [summary] : []);
    return typeof text === 'string' ? text : undefined;
  }
  return undefined;
}

/**
 * A run's events, the latest first.
 *
 * @param execution without a run ID: the current run
 * @param maxPages how far back they are read, in pages of {@link PAGE_EVENTS}
 * @throws LonghaulError `not_found`, `unavailable`
 */
export async function* eventsFromEnd(
  temporal: TemporalClient,
  execution: { workflowId: string; runId?: string },
  maxPages: number,
): AsyncGenerator<HistoryEvent> {
  let nextPageToken: Uint8Array | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    const response = await temporal.call((client) =>
      client.workflowService.getWorkflowExecutionHistoryReverse({
        namespace: temporal.namespace,
        execution,
        maximumPageSize: PAGE_EVENTS,
        ...(nextPageToken ? { nextPageToken } : {}),
      }),
    );
    yield* response.history?.events ?? [];
    if (!response.nextPageToken?.length) return;
    nextPageToken = response.nextPageToken;
  }
}

/** Temporal's timestamp as a date. */
export function toDate({ seconds, nanos }: { seconds?: unknown; nanos?: number | null }): Date {
  return new Date(Number(seconds ?? 0) * 1000 + (nanos ?? 0) / 1e6);
}
