/**
 * Deletions of operations, recorded in Temporal. Temporal deletes a closed workflow within a minute, not at once. So a
 * deletion begins with a new run under the same workflow ID, which isn't an operation: as the current run it hides the
 * operation from every reader. It is open until everything of the operation is deleted; then it is deleted as well.
 */
import { isGrpcServiceError, type Client, type WorkflowExecutionDescription } from '@temporalio/client';
import { START_MEMO } from '../operations/wire.js';
import { executionsOf, type Run } from './executions.js';
import { CALL_LIMIT_MS, findWorkflow } from './find-workflow.js';
import { prefixesOf } from './storage-keys.js';
import type { Storage } from './storage.js';

/** Type of the runs that hide operations, and the task queue that they are on: no worker polls it. */
export const DELETION_TYPE = 'longhaul_deletion';
/** Where such a run says what it deletes. */
const DELETION_MEMO = 'longhaul_deletion';
/** A deletion that was cut off is over after so long, whether or not somebody completed it. */
const DELETION_TIMEOUT = '30d';
/** How long starting such a run may take, in milliseconds: Temporal delays a second run within a second. */
const BEGIN_LIMIT_MS = 10_000;
const NOT_FOUND = 5;

/** A deletion that has begun. */
export interface Deletion {
  principal: string;
  /** Current run of the operation as it was deleted. */
  runId: string;
  /** Workflow ID of an operation that was resumed from this one: if there is one, it reads this one's logs and files. */
  resumedAs: string;
}

/** Is it an operation, and not a foreign workflow or a deletion? */
export function isOperation(description: WorkflowExecutionDescription | undefined): boolean {
  return description?.memo?.[START_MEMO] !== undefined;
}

/** What a run deletes; undefined for all other workflows. */
export function deletionIn({ memo }: Pick<WorkflowExecutionDescription, 'memo'>): Deletion | undefined {
  return memo?.[DELETION_MEMO] as Deletion | undefined;
}

/**
 * Hides an operation for good.
 *
 * @throws WorkflowExecutionAlreadyStartedError when a run under the ID is open: a deletion, or one since a reset
 */
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
 * Deletes what storage holds of the operation, then its histories, then the run that hides it. Safe to repeat, also after
 * it was cut off.
 *
 * @param description of the open run that hides the operation
 * @throws when Temporal can't be reached or refuses, or storage fails; the operation stays hidden
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
    for (const prefix of workflowIds.flatMap(prefixesOf))
      for await (const { key } of storage.list(prefix)) await storage.remove(key);
  for (const workflowExecution of runs)
    await ignoreNotFound(client, () =>
      client.workflowService.deleteWorkflowExecution({ namespace, workflowExecution }),
    );
  const workflowExecution = { workflowId, runId };
  // From here on the deletion is complete. This run's own history goes as soon as Temporal gets to it.
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

/** Completes all deletions that were cut off. @returns how many */
export async function completeDeletions(client: Client, storage: Storage): Promise<number> {
  let count = 0;
  const query = `WorkflowType = '${DELETION_TYPE}' AND ExecutionStatus = 'Running'`;
  for await (const { workflowId } of client.workflow.list({ query })) {
    const found = await findWorkflow(client, workflowId);
    const deletion = found && !found.closeTime ? deletionIn(found) : undefined;
    if (!deletion) continue;
    await completeDeletion(client, storage, found!, deletion);
    count += 1;
  }
  return count;
}

async function ignoreNotFound(client: Client, call: () => Promise<unknown>): Promise<void> {
  try {
    await client.withDeadline(Date.now() + CALL_LIMIT_MS, call);
  } catch (error) {
    if (!isGrpcServiceError(error) || error.code !== NOT_FOUND) throw error;
  }
}
