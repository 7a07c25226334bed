/**
 * Deletions of operations, recorded in Temporal, which takes minutes to delete a closed workflow. So a deletion first starts a
 * run of another type under the same workflow ID. That run hides the operation until all its data is deleted, and goes last.
 */
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { START_MEMO } from '../../operations/wire/index.js';
import { isUnreadable } from '../../operations/wire/unreadable.js';
import { executionsOf, type Run } from './executions.js';
import { CALL_LIMIT_MS, findWorkflow } from './find-workflow.js';
import { openRuns } from './visibility-query.js';
import { GRPC, isGrpcError } from './grpc-errors.js';
import { listWorkflows } from './list-workflows.js';
import { prefixesOf } from '../storage/keys.js';
import type { Storage } from '../storage/index.js';
import { storedItem, type SweepItem } from '../storage/sweep-plan.js';

/** Workflow type of the runs that hide operations, and their task queue, which no worker polls. */
export const DELETION_TYPE = 'longhaul_deletion';
const DELETION_MEMO = 'longhaul_deletion';
/** Execution time-out of an interrupted deletion that nothing completes. */
const DELETION_TIMEOUT = '30d';
/** Limit for starting such a run: Temporal delays a second run within a second. */
const BEGIN_LIMIT_MS = 10_000;

export interface Deletion {
  principal: string;
  /** The operation's current run when it was deleted. */
  runId: string;
  /** Workflow ID of the operation that resumes this one, if it exists. It reads this one's logs and files. */
  resumedAs: string;
}

/** Whether a workflow is an operation, and not a foreign workflow or a deletion. */
export function isOperation(description: WorkflowExecutionDescription | undefined): boolean {
  return description?.memo?.[START_MEMO] !== undefined;
}

/** The deletion that a run stands for; undefined for other workflows. */
export function deletionIn({ memo }: Pick<WorkflowExecutionDescription, 'memo'>): Deletion | undefined {
  const deletion = memo?.[DELETION_MEMO] as Deletion | undefined;
  return isUnreadable(deletion) ? undefined : deletion;
}

/** Hides an operation for good. @throws WorkflowExecutionAlreadyStartedError when a deletion, or a run since a reset, is open */
export async function beginDeletion(client: Client, workflowId: string, deletion: Deletion): Promise<void> {
  await client.withDeadline(Date.now() + BEGIN_LIMIT_MS, () =>
    client.workflow.start(DELETION_TYPE, {
      workflowId,
      taskQueue: DELETION_TYPE,
      args: [],
      memo: { [DELETION_MEMO]: deletion },
      workflowIdConflictPolicy: 'FAIL',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowExecutionTimeout: DELETION_TIMEOUT,
      staticSummary: 'Deletion of an operation',
    }),
  );
}

/**
 * Deletes the operation's stored values, its histories, then the run that hides it. Idempotent.
 *
 * @throws when Temporal can't be reached or rejects the call, or storage fails; the operation stays hidden
 */
export async function completeDeletion(
  client: Client,
  storage: Storage,
  { workflowId, runId }: Run,
  deletion: Deletion,
): Promise<void> {
  const { namespace } = client.options;
  const { runs, workflowIds } = await executionsOf(client, { workflowId, runId: deletion.runId }, [runId]);
  const isRead = isOperation(await findWorkflow(client, deletion.resumedAs));
  if (!isRead)
    for (const prefix of workflowIds.flatMap(prefixesOf)) await storage.removeAll(storage.keys(prefix));
  for (const workflowExecution of runs)
    await ignoreNotFound(client, () =>
      client.workflowService.deleteWorkflowExecution({ namespace, workflowExecution }),
    );
  const workflowExecution = { workflowId, runId };
  // The deletion is complete. Temporal deletes this run's own history asynchronously.
  await ignoreNotFound(client, () =>
    client.workflowService.terminateWorkflowExecution({
      namespace,
      workflowExecution,
      reason: 'the operation is deleted',
    }),
  );
  await ignoreNotFound(client, () =>
    client.workflowService.deleteWorkflowExecution({ namespace, workflowExecution }),
  );
}

/** All interrupted deletions. Removing an item completes it. */
export async function* interruptedDeletions(client: Client, storage: Storage): AsyncGenerator<SweepItem> {
  const query = `WorkflowType = '${DELETION_TYPE}' AND ${await openRuns(client)}`;
  for await (const { workflowId } of listWorkflows(client, query)) {
    const found = await findWorkflow(client, workflowId);
    const deletion = found && !found.closeTime ? deletionIn(found) : undefined;
    if (!deletion) continue;
    const keys: string[] = [];
    for (const prefix of prefixesOf(workflowId))
      for await (const { key } of storage.list(prefix)) keys.push(key);
    yield {
      ...storedItem(storage, {
        kind: 'deletion',
        name: workflowId,
        reason: 'its deletion was interrupted',
        keys,
      }),
      remove: () => completeDeletion(client, storage, found!, deletion),
    };
  }
}

async function ignoreNotFound(client: Client, call: () => Promise<unknown>): Promise<void> {
  try {
    await client.withDeadline(Date.now() + CALL_LIMIT_MS, call);
  } catch (error) {
    if (!isGrpcError(error, GRPC.notFound)) throw error;
  }
}
