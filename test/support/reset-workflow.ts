/** Resets of workflows, as Temporal's UI and `temporal workflow reset --event-id` make them. */
import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';

export type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

/** Whether an event schedules the activity with this summary: `job / step` for a pipeline's step. */
export function schedules(summary: string): (event: HistoryEvent) => boolean {
  return ({ activityTaskScheduledEventAttributes, userMetadata }) =>
    Boolean(activityTaskScheduledEventAttributes) &&
    Buffer.from(userMetadata?.summary?.data ?? []).toString() === JSON.stringify(summary);
}

/**
 * Resets a workflow to the end of the workflow task before an event: the event's cause is decided again.
 *
 * @param isBefore the event; the first that matches counts
 * @param excluded types of events that aren't applied again, by their numbers. Default: none
 * @returns ID of the new run
 */
export async function resetBefore(
  client: Client,
  workflowId: string,
  isBefore: (event: HistoryEvent) => boolean,
  excluded: temporal.api.enums.v1.ResetReapplyExcludeType[] = [],
): Promise<string> {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  const at = events!.findIndex(isBefore);
  if (at < 0) throw new Error(`no such event among the ${events!.length} of ${workflowId}`);
  const task = events!.slice(0, at).findLast((event) => event.workflowTaskCompletedEventAttributes);
  if (!task) throw new Error(`${workflowId} completed no workflow task before event ${at + 1}`);
  const { runId } = await client.workflowService.resetWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId },
    reason: 'test',
    requestId: randomUUID(),
    workflowTaskFinishEventId: task.eventId!,
    resetReapplyExcludeTypes: excluded,
  });
  return runId;
}
