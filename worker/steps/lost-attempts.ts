/**
 * Finds pipeline activities that Temporal gave to a killed worker of this host. Recorded steps are adopted; any other attempt
 * would wait for its heartbeat timeout, because nobody reports it.
 */
import proto from '@temporalio/proto';
import { ActivityNotFoundError, WorkflowNotFoundError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { RUN_STEP_ACTIVITY } from '../../pipelines/run.js';
import type * as activities from '../../activities/pipeline/index.js';
import { KILLED_FIRST, stepNotRun } from './failures.js';
import { hostId } from './host.js';
import { runningSteps } from './running.js';
import { PAGE_WORKFLOW, PIPELINE_WORKFLOW } from '../../pipelines/pipeline.js';
import { hasEndedHere } from '../../platform/temporal/host-presence.js';
import { listWorkflows } from '../../platform/temporal/list-workflows.js';
import { openRuns, quote } from '../../platform/temporal/visibility-query.js';
import type { AdoptionContext } from './adopt-steps.js';

const { PENDING_ACTIVITY_STATE_STARTED } = proto.temporal.api.enums.v1.PendingActivityState;
const STEP_ACTIVITY: keyof typeof activities = RUN_STEP_ACTIVITY;

const CALL_LIMIT_MS = 10_000;
/** Workflow runs described at once. */
const BATCH = 20;

interface Execution {
  workflowId: string;
  runId: string;
}

/**
 * Fails the attempts of ended workers of this host, except recorded steps. The workflow then schedules a step again, and the
 * journal shows how far it got. Temporal repeats other activities.
 *
 * @returns number of failed attempts
 * @throws errors of Temporal
 */
export async function failLostAttempts(
  context: Pick<AdoptionContext, 'settings' | 'client' | 'logger'>,
): Promise<number> {
  const { settings, client } = context;
  // Read before asking Temporal: ended workers record no more steps.
  const recorded = await runningSteps(settings.home);
  const types = [PIPELINE_WORKFLOW, PAGE_WORKFLOW].map(quote).join(', ');
  const query = `WorkflowType IN (${types}) AND ${await openRuns(client())} AND TaskQueue = ${quote(settings.taskQueue)}`;
  const open: Execution[] = [];
  for await (const { workflowId, runId } of listWorkflows(client(), query)) open.push({ workflowId, runId });
  let count = 0;
  for (let at = 0; at < open.length; at += BATCH) {
    const failed = await Promise.all(
      open.slice(at, at + BATCH).map(async (execution) => {
        const { workflowId, runId } = execution;
        const own = recorded.filter((step) => step.workflowId === workflowId && step.runId === runId);
        const isRecorded = (id: string) => own.some(({ activityId }) => activityId === id);
        return failAttemptsOf(execution, isRecorded, context);
      }),
    );
    count += failed.reduce((sum, one) => sum + one, 0);
  }
  return count;
}

/** @param isRecorded whether an activity's step is recorded; a worker adopts it */
async function failAttemptsOf(
  execution: Execution,
  isRecorded: (activityId: string) => boolean,
  { settings, client, logger }: Pick<AdoptionContext, 'settings' | 'client' | 'logger'>,
): Promise<number> {
  const temporal = client();
  const host = hostId(settings.home);
  const call = <T>(make: () => Promise<T>) => temporal.withDeadline(Date.now() + CALL_LIMIT_MS, make);
  const handle = temporal.workflow.getHandle(execution.workflowId, execution.runId);
  const described = await call(() => handle.describe()).catch(undefinedFor(WorkflowNotFoundError));
  const lost = (described?.raw.pendingActivities ?? []).filter(
    ({ activityId, activityType, state, lastWorkerIdentity }) =>
      state === PENDING_ACTIVITY_STATE_STARTED &&
      hasEndedHere(lastWorkerIdentity ?? '', host) &&
      !(activityType?.name === STEP_ACTIVITY && isRecorded(activityId!)),
  );
  for (const { activityId, activityType } of lost) {
    const failure =
      activityType?.name === STEP_ACTIVITY
        ? stepNotRun(undefined, KILLED_FIRST)
        : ApplicationFailure.retryable(KILLED_FIRST);
    await call(() => temporal.activity.fail({ ...execution, activityId: activityId! }, failure)).catch(
      undefinedFor(ActivityNotFoundError),
    );
    logger.info({ ...execution, activity: activityType?.name }, 'failed an attempt of a killed worker');
  }
  return lost.length;
}

/** Ignores runs and attempts that have ended meanwhile. */
function undefinedFor(
  expected: typeof WorkflowNotFoundError | typeof ActivityNotFoundError,
): (error: unknown) => undefined {
  return (error) => {
    if (error instanceof expected) return undefined;
    throw error;
  };
}
