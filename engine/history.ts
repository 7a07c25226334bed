/** What only the history holds, read from its end. */
import { decodeArrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow/index.js';
import proto from '@temporalio/proto';
import type { EngineTemporal } from './temporal.js';

const { EventType } = proto.temporal.api.enums.v1;

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
  engine: EngineTemporal,
  workflowId: string,
  runId?: string,
): Promise<{ at?: string; reason?: string }> {
  const event = await findLastEvent(
    engine,
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
  engine: EngineTemporal,
  workflowId: string,
): Promise<string | undefined> {
  const event = await findLastEvent(engine, workflowId, undefined, EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED);
  return event?.workflowTaskFailedEventAttributes?.failure?.message ?? undefined;
}

async function findLastEvent(
  engine: EngineTemporal,
  workflowId: string,
  runId: string | undefined,
  type: number,
) {
  const { history } = await engine.call((client) =>
    client.workflowService.getWorkflowExecutionHistoryReverse({
      namespace: engine.namespace,
      execution: { workflowId, ...(runId ? { runId } : {}) },
      maximumPageSize: PAGE_EVENTS,
    }),
  );
  return history?.events?.find(({ eventType }) => eventType === type);
}

/**
 * The summary of an activity that is pending, newest events first.
 *
 * @returns undefined when it has none, or was scheduled more than {@link SUMMARY_PAGES} pages of history ago
 */
export async function activitySummary(
  engine: EngineTemporal,
  workflowId: string,
  activityId: string,
): Promise<string | undefined> {
  let nextPageToken: Uint8Array | undefined;
  for (let read = 0; read < SUMMARY_PAGES && (read === 0 || nextPageToken?.length); read += 1) {
    const token = nextPageToken;
    const page = await engine.call((client) =>
      client.workflowService.getWorkflowExecutionHistoryReverse({
        namespace: engine.namespace,
        execution: { workflowId },
        maximumPageSize: PAGE_EVENTS,
        ...(token ? { nextPageToken: token } : {}),
      }),
    );
    const event = page.history?.events?.find(
      (one) => one.activityTaskScheduledEventAttributes?.activityId === activityId,
    );
    if (event) {
      const { summary } = event.userMetadata ?? {};
      const [text] = await decodeArrayFromPayloads(engine.dataConverter, summary ? [summary] : []);
      return typeof text === 'string' ? text : undefined;
    }
    nextPageToken = page.nextPageToken ?? undefined;
  }
  return undefined;
}

/** Temporal's timestamp as a date. */
export function toDate({ seconds, nanos }: { seconds?: unknown; nanos?: number | null }): Date {
  return new Date(Number(seconds ?? 0) * 1000 + (nanos ?? 0) / 1e6);
}
