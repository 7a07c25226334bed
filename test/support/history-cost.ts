/** Cost of an operation in Temporal's history. */
import type { Client, WorkflowHandle } from '@temporalio/client';
import proto from '@temporalio/proto';

const { EventType } = proto.temporal.api.enums.v1;

/** Events that Temporal Cloud bills as actions (docs.temporal.io, "Temporal Cloud Actions"); heartbeats are not events. */
const ACTION_EVENTS: ReadonlySet<number> = new Set([
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED,
  EventType.EVENT_TYPE_TIMER_STARTED,
  EventType.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED,
  EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED,
  EventType.EVENT_TYPE_MARKER_RECORDED,
]);

/** Events that Temporal also writes to visibility. The ends of runs come on top. */
const VISIBILITY_EVENTS: ReadonlySet<number> = new Set([
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED,
  EventType.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES,
  EventType.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED,
]);

export interface HistoryCost {
  events: number;
  /** Billed actions, without heartbeats. */
  actions: number;
  visibilityWrites: number;
  workflowTasks: number;
  transitions: number;
}

/** Counts of one operation's history. */
export function historyCost(temporal: Client, workflowId: string): Promise<HistoryCost> {
  return costOf(temporal.workflow.getHandle(workflowId));
}

/** Counts of one run's history. */
export async function costOf(
  handle: Pick<WorkflowHandle, 'fetchHistory' | 'describe'>,
): Promise<HistoryCost> {
  const { events } = await handle.fetchHistory();
  const { raw, closeTime } = await handle.describe();
  const types = (events ?? []).map(({ eventType }) => eventType as number);
  return {
    events: types.length,
    actions: types.filter((type) => ACTION_EVENTS.has(type)).length,
    visibilityWrites: types.filter((type) => VISIBILITY_EVENTS.has(type)).length + (closeTime ? 1 : 0),
    workflowTasks: types.filter((type) => type === EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED).length,
    transitions: Number(raw.workflowExecutionInfo?.stateTransitionCount),
  };
}
