/** What keeps open work from going on: no worker, failing code, activities that are tried again. */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { decodeOptionalFailureToOptionalError } from '@temporalio/common/lib/internal-non-workflow/index.js';
import proto from '@temporalio/proto';
import { activityFailureMessage, activityName, isBuiltinActivity } from '../operations/activity-names.js';
import { humanDuration } from '../operations/budgets.js';
import { hostOfQueue } from '../platform/host-presence.js';
import { activitySummary, lastTaskFailure } from './history.js';
import type { TemporalClient } from './temporal.js';

const { PendingWorkflowTaskState, PendingActivityState } = proto.temporal.api.enums.v1;

/** How long a workflow task or activity may wait before it is said that no worker takes it, in milliseconds. */
const NO_WORKER_MS = 10_000;

/** How long after its start a new attempt of an activity is announced with why there is one, in milliseconds. */
const ANNOUNCED_MS = 5_000;

/** What keeps the work from going on, in a line; undefined when nothing does. */
export async function describeBlockage(
  temporal: TemporalClient,
  raw: WorkflowExecutionDescription['raw'],
  workflowId: string,
): Promise<string | undefined> {
  const { pendingWorkflowTask: task } = raw;
  const waitedMs = (since: { seconds?: unknown } | null | undefined) =>
    since ? Date.now() - Number(since.seconds) * 1000 : 0;
  if (task && Number(task.attempt ?? 1) > 1) {
    const why = await lastTaskFailure(temporal, workflowId);
    if (why) return `the workflow's code keeps failing (attempt ${task.attempt?.toString()}): ${why}`;
  }
  if (task?.state === PendingWorkflowTaskState.PENDING_WORKFLOW_TASK_STATE_SCHEDULED) {
    const waiting = waitedMs(task.originalScheduledTime ?? task.scheduledTime);
    if (waiting > NO_WORKER_MS) return `no worker has taken the work for ${humanDuration(waiting / 1000)}`;
  }
  const activities = raw.pendingActivities ?? [];
  const { PENDING_ACTIVITY_STATE_SCHEDULED, PENDING_ACTIVITY_STATE_STARTED } = PendingActivityState;
  // Others may wait their turn while something runs.
  const isAnyRunning = activities.some(({ state }) => state === PENDING_ACTIVITY_STATE_STARTED);
  for (const activity of activities) {
    const isScheduled = activity.state === PENDING_ACTIVITY_STATE_SCHEDULED;
    if (isRetried(activity) && (isScheduled || waitedMs(activity.lastStartedTime) < ANNOUNCED_MS)) {
      const failure = await decodeOptionalFailureToOptionalError(
        temporal.dataConverter,
        activity.lastFailure,
      );
      const why = failure && activityFailureMessage(activity.activityType?.name ?? '', failure.message);
      const name = await nameOf(temporal, workflowId, activity);
      return `${name} is tried again (attempt ${activity.attempt})${why ? `: ${why}` : ''}`;
    }
    if (isScheduled && !isAnyRunning && waitedMs(activity.scheduledTime) > NO_WORKER_MS) {
      const name = await nameOf(temporal, workflowId, activity);
      const host = hostOfQueue(temporal.taskQueue, activity.activityOptions?.taskQueue?.name ?? '');
      const missing = host === undefined ? 'no worker has taken' : `host ${host} has not taken`;
      return `${missing} ${name} for ${humanDuration(waitedMs(activity.scheduledTime) / 1000)}`;
    }
  }
  return undefined;
}

/** Which attempts are under way, in a few words; undefined while each is the first. */
export async function retriesOf(
  temporal: TemporalClient,
  { pendingActivities }: WorkflowExecutionDescription['raw'],
  workflowId: string,
): Promise<string | undefined> {
  const activities = pendingActivities ?? [];
  const retried = activities.filter(isRetried);
  if (retried.length === 0) return undefined;
  if (activities.length === 1) return `attempt ${retried[0]!.attempt}`;
  const each = retried.map(
    async (one) => `${await nameOf(temporal, workflowId, one)}: attempt ${one.attempt}`,
  );
  return (await Promise.all(each)).join(', ');
}

function isRetried({ attempt }: PendingActivity): boolean {
  return (attempt ?? 1) > 1;
}

type PendingActivity = NonNullable<WorkflowExecutionDescription['raw']['pendingActivities']>[number];

/**
 * Name of a pending activity for people. Temporal's description of a workflow has no summaries, so that of Longhaul's own
 * activities is read from the history.
 */
export async function nameOf(
  temporal: TemporalClient,
  workflowId: string,
  { activityType, activityId }: PendingActivity,
): Promise<string> {
  const type = activityType?.name ?? 'an activity';
  if (!isBuiltinActivity(type) || !activityId) return activityName(type, undefined);
  return activityName(type, await activitySummary(temporal, workflowId, activityId));
}
