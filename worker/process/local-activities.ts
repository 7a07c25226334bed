/** Local activities of every worker, called by the workflow runtime and by queues. */
import { Context } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { writeArtifact } from '../../activities/runtime/index.js';
import type { Progress } from '../../operations/record.js';
import { KEPT_RESULT } from '../../operations/tool/output.js';
import {
  CHILD_PROGRESS_ACTIVITY,
  KEEP_RESULT_ACTIVITY,
  REQUEST_CANCEL_ACTIVITY,
  VERIFY_ANSWER_ACTIVITY,
  VERIFY_SCHEDULED_START_ACTIVITY,
  type AnswerProof,
  type ScheduledStart,
} from '../../operations/wire/index.js';
import { STATE_MEMO, type StateMemo } from '../../operations/wire/state.js';
import { findWorkflow, isOpen } from '../../platform/temporal/find-workflow.js';
import { listWorkflows } from '../../platform/temporal/list-workflows.js';
import { openRuns } from '../../platform/temporal/visibility-query.js';
import type { Activity } from '../../platform/project/code.js';
import { scheduledRunOf, timesIn, type Signer } from '../../platform/temporal/signer.js';
import { turnActivities } from './turn-activities.js';

/** How far the clocks of Temporal's servers may differ, in milliseconds. */
const CLOCK_TOLERANCE_MS = 10_000;

/** The activities by type. @param signer verifies the signatures of answers */
export function localActivities(signer: Signer): Record<string, Activity> {
  return {
    [REQUEST_CANCEL_ACTIVITY]: requestCancel,
    [CHILD_PROGRESS_ACTIVITY]: childProgress,
    [KEEP_RESULT_ACTIVITY]: (result: unknown) => writeArtifact(KEPT_RESULT, JSON.stringify(result) ?? 'null'),
    [VERIFY_ANSWER_ACTIVITY]: answerVerifier(signer),
    [VERIFY_SCHEDULED_START_ACTIVITY]: scheduledStartProblem,
    ...turnActivities(),
  };
}

async function requestCancel(reason?: string): Promise<void> {
  const { client, info } = Context.current();
  await client.workflowService.requestCancelWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId: info.workflowExecution!.workflowId },
    requestId: info.activityId + info.workflowExecution!.runId,
    ...(reason ? { reason } : {}),
  });
}

/** Makes the activity that verifies an answer's signature. It returns a problem, or null. */
function answerVerifier(signer: Signer): (proof: AnswerProof) => Promise<string | null> {
  return async ({ operationId, signature }) => {
    const problem = signer.problemOf(['answer'], operationId, signature);
    if (problem === undefined) return null;
    return problem === 'other-key'
      ? `the answer was signed with another key than this worker's, ${signer.keyId}: give all servers and workers the same LONGHAUL_SECRET`
      : 'the signature of the answer is not valid';
  };
}

/** The progress in the memo of the calling workflow's closed child; null if there is none. */
async function childProgress(workflowId: string): Promise<Progress | null> {
  const { client, info } = Context.current();
  const { raw, memo } = await client.workflow.getHandle(workflowId).describe();
  const { parentExecution } = raw.workflowExecutionInfo ?? {};
  if (parentExecution?.workflowId !== info.workflowExecution!.workflowId) return null;
  return (memo?.[STATE_MEMO] as StateMemo | undefined)?.progress ?? null;
}

/**
 * Why the calling workflow, started with a schedule's verified signature, may not work; null if it may. Anyone who reaches
 * Temporal can copy the signature, so it counts only when the schedule itself would start a run.
 */
async function scheduledStartProblem({ signature, startedMs }: ScheduledStart): Promise<string | null> {
  const { client, info } = Context.current();
  const { workflowId } = info.workflowExecution!;
  const { id, timeMs } = scheduledRunOf(workflowId)!;
  const nothing = 'nothing was done';
  if (timeMs > startedMs + CLOCK_TOLERANCE_MS)
    return `workflow "${workflowId}" was started before its time, so not by the schedule: ${nothing}`;
  const { overlap } = timesIn(signature)!;
  if (overlap === 'AllowAll') return null;
  const other = await openRunBefore(client, { id, workflowId, startedMs });
  return other === undefined
    ? null
    : `workflow "${workflowId}" overlaps with "${other}", which the overlap policy ${overlap} doesn't allow: ${nothing}`;
}

/** An open workflow of the same schedule that started before this one. */
async function openRunBefore(
  client: Client,
  { id, workflowId, startedMs }: { id: string; workflowId: string; startedMs: number },
): Promise<string | undefined> {
  const query = `WorkflowId STARTS_WITH '${id}-' AND ${await openRuns(client)}`;
  for await (const { workflowId: other } of listWorkflows(client, query)) {
    if (other === workflowId || scheduledRunOf(other)?.id !== id) continue;
    // Lists lag behind.
    const found = await findWorkflow(client, other);
    if (!found || !isOpen(found)) continue;
    const isContinued = found.raw.workflowExecutionInfo?.firstRunId !== found.runId;
    const difference = found.startTime.getTime() - startedMs;
    if (isContinued || difference < 0 || (difference === 0 && other < workflowId)) return other;
  }
  return undefined;
}
