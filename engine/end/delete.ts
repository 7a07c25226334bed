/** Deletes a closed operation: a Temporal run hides it at once, then storage and Temporal remove it. */
import { WorkflowExecutionAlreadyStartedError, type WorkflowExecutionDescription } from '@temporalio/client';
import { LonghaulError } from '../../operations/errors.js';
import { tokenOfResumed, workflowIdOf } from '../../operations/token.js';
import {
  beginDeletion,
  completeDeletion,
  deletionIn,
  isOperation,
  type Deletion,
} from '../../platform/temporal/deletions.js';
import { findWorkflow } from '../../platform/temporal/find-workflow.js';
import { startMemoOf } from '../read/start-memo.js';
import type { TemporalClient } from '../temporal/client.js';

/** Limit for all calls of a deletion together, in milliseconds. Each call has its own limit too. */
const DELETE_LIMIT_MS = 60_000;

/**
 * Deletes a closed operation.
 *
 * @throws LonghaulError `wrong_state` while the operation is open, or one resumed from it exists; `not_found`; `unavailable`, not retryable
 *   when Temporal refuses to delete
 */
export async function deleteOperation(
  temporal: TemporalClient,
  secret: Buffer,
  principal: string,
  token: string,
): Promise<void> {
  const workflowId = workflowIdOf(principal, token, secret);
  const found = await temporal.describe(workflowId);
  if (isUnfinishedDeletion(found, principal)) return finishDeletion(temporal, found);
  const { attempt } = startMemoOf(found, principal);
  if (!found.closeTime)
    throw new LonghaulError(
      'wrong_state',
      'the operation is open; only one that has ended can be deleted: cancel it first',
    );
  const successor = tokenOfResumed(principal, token, attempt + 1, secret);
  const resumedAs = workflowIdOf(principal, successor, secret);
  if (isOperation(await temporal.call((client) => findWorkflow(client, resumedAs))))
    throw new LonghaulError(
      'wrong_state',
      `the operation was resumed as ${successor}, which reads its logs and files; delete that one first`,
    );
  try {
    await temporal.call(
      (client) => beginDeletion(client, workflowId, { principal, runId: found.runId, resumedAs }),
      DELETE_LIMIT_MS,
    );
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
  const begun = await temporal.describe(workflowId);
  // Another request may have deleted it in the meantime, or an operator reset it in Temporal's UI.
  if (isUnfinishedDeletion(begun, principal)) return finishDeletion(temporal, begun);
  startMemoOf(begun, principal);
  throw new LonghaulError('wrong_state', 'the operation was reset meanwhile and is open: cancel it first');
}

/** Whether this run is this principal's deletion and still under way. */
function isUnfinishedDeletion(found: WorkflowExecutionDescription, principal: string): boolean {
  return !found.closeTime && deletionIn(found)?.principal === principal;
}

/** Completes a deletion. @throws LonghaulError `unavailable` */
export async function finishDeletion(
  temporal: TemporalClient,
  found: WorkflowExecutionDescription,
): Promise<void> {
  // Deletion lists the operation's runs, hence the budget.
  await temporal.callVisibility(
    'list',
    (client) => completeDeletion(client, temporal.storage, found, deletionIn(found) as Deletion),
    DELETE_LIMIT_MS,
  );
}
