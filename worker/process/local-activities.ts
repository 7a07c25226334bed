/** Local activities of every worker, called by the workflow runtime and by queues. */
import { Context } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { WORKFLOW_TASK_TIMEOUT_MS } from '../../operations/tool/budgets.js';
import {
  ASK_TURN_ACTIVITY,
  ASK_TURN_SIGNAL,
  CHECK_TURNS_ACTIVITY,
  QUEUE_WORKFLOW,
  queueWorkflowId,
  RETURN_TURN_ACTIVITY,
  RETURN_TURN_SIGNAL,
  TELL_TURNS_ACTIVITY,
  TURN_SIGNAL,
  type AddressedNotice,
  type QueueInput,
  type TurnRequest,
} from '../../operations/wire/queue-wire.js';
import type { Progress } from '../../operations/record.js';
import { PRIORITIES } from '../../operations/tool/queue.js';
import {
  CHILD_PROGRESS_ACTIVITY,
  REQUEST_CANCEL_ACTIVITY,
  VERIFY_ANSWER_ACTIVITY,
  VERIFY_SCHEDULED_START_ACTIVITY,
  type AnswerProof,
  type ScheduledStart,
} from '../../operations/wire/index.js';
import { STATE_MEMO, type StateMemo } from '../../operations/wire/state.js';
import { findWorkflow } from '../../platform/temporal/find-workflow.js';
import { listWorkflows } from '../../platform/temporal/list-workflows.js';
import type { Activity } from '../../platform/project/code.js';
import { scheduledRunOf, timesIn, type Signer } from '../../platform/temporal/signer.js';

/** How far the clocks of Temporal's servers may differ, in milliseconds. */
const CLOCK_TOLERANCE_MS = 10_000;
/** Calls to Temporal at once, about a queue's operations. */
const CALLS_AT_ONCE = 10;

/** The activities by type. @param signer verifies the signatures of answers */
export function localActivities(signer: Signer): Record<string, Activity> {
  return {
    [REQUEST_CANCEL_ACTIVITY]: requestCancel,
    [CHILD_PROGRESS_ACTIVITY]: childProgress,
    [VERIFY_ANSWER_ACTIVITY]: answerVerifier(signer),
    [VERIFY_SCHEDULED_START_ACTIVITY]: scheduledStartProblem,
    [ASK_TURN_ACTIVITY]: askTurn,
    [RETURN_TURN_ACTIVITY]: returnTurn,
    [TELL_TURNS_ACTIVITY]: tellTurns,
    [CHECK_TURNS_ACTIVITY]: checkTurns,
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
  return ({ operationId, signature }) => {
    const problem = signer.problemOf(['answer'], operationId, signature);
    if (problem === undefined) return Promise.resolve(null);
    return Promise.resolve(
      problem === 'other-key'
        ? `the answer was signed with another key than this worker's, ${signer.keyId}: give all servers and workers the same LONGHAUL_SECRET`
        : 'the signature of the answer is not valid',
    );
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
  const query = `WorkflowId STARTS_WITH '${id}-' AND ExecutionStatus = 'Running'`;
  for await (const { workflowId: other } of listWorkflows(client, query)) {
    if (other === workflowId || scheduledRunOf(other)?.id !== id) continue;
    // Lists lag behind.
    const found = await findWorkflow(client, other);
    if (found?.status.name !== 'RUNNING') continue;
    const isContinued = found.raw.workflowExecutionInfo?.firstRunId !== found.runId;
    const difference = found.startTime.getTime() - startedMs;
    if (isContinued || difference < 0 || (difference === 0 && other < workflowId)) return other;
  }
  return undefined;
}

/** A workflow itself can't signal-with-start its queue, or learn whether another one is still open. */
async function askTurn(request: TurnRequest): Promise<void> {
  const { client, info } = Context.current();
  const { name } = request.queue;
  await client.workflow.signalWithStart<(input: QueueInput) => Promise<void>, [TurnRequest]>(QUEUE_WORKFLOW, {
    workflowId: queueWorkflowId(info.taskQueue, name),
    taskQueue: info.taskQueue,
    args: [{ name }],
    staticSummary: `queue ${name}`,
    workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS,
    // Its tasks let others run, so they go first.
    priority: { priorityKey: PRIORITIES.first },
    signal: ASK_TURN_SIGNAL,
    signalArgs: [request],
  });
}

async function returnTurn(queue: string, id: string): Promise<void> {
  const { client, info } = Context.current();
  const handle = client.workflow.getHandle(queueWorkflowId(info.taskQueue, queue));
  await isOpen(handle.signal(RETURN_TURN_SIGNAL, id));
}

function tellTurns(notices: AddressedNotice[]): Promise<string[]> {
  const { client } = Context.current();
  return closedOf(notices, ({ id, notice }) =>
    isOpen(client.workflow.getHandle(id).signal(TURN_SIGNAL, notice)),
  );
}

function checkTurns(ids: string[]): Promise<string[]> {
  const { client } = Context.current();
  return closedOf(
    ids.map((id) => ({ id })),
    ({ id }) =>
      isOpen(
        client.workflow
          .getHandle(id)
          .describe()
          .then(({ status }) => status.name === 'RUNNING'),
      ),
  );
}

async function closedOf<T extends { id: string }>(
  all: T[],
  isOpenOne: (one: T) => Promise<boolean>,
): Promise<string[]> {
  const closed: string[] = [];
  for (let at = 0; at < all.length; at += CALLS_AT_ONCE)
    await Promise.all(
      all.slice(at, at + CALLS_AT_ONCE).map(async (one) => {
        if (!(await isOpenOne(one))) closed.push(one.id);
      }),
    );
  return closed;
}

/** Result of a call about a workflow; false if Temporal has no such open workflow. */
async function isOpen(call: Promise<boolean | void>): Promise<boolean> {
  try {
    return (await call) ?? true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
