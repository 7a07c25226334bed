/** Deleting a closed operation: hidden at once, by Temporal, then removed from storage and from Temporal itself. */
import {
  isGrpcServiceError,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowExecutionDescription,
} from '@temporalio/client';
import { LonghaulError } from '../operations/errors.js';
import { tokenOfResumed, workflowIdOf } from '../operations/token.js';
import {
  beginDeletion,
  completeDeletion,
  deletionIn,
  isOperation,
  type Deletion,
} from '../platform/deletions.js';
import { findWorkflow } from '../platform/find-workflow.js';
import { startMemoOf } from './read.js';
import type { TemporalClient } from './temporal.js';

/** How long all of a deletion's calls may take, in milliseconds. Each has a limit of its own. */
const DELETE_LIMIT_MS = 60_000;
/** gRPC status codes with which Temporal refuses to delete workflows: permission denied, unimplemented. */
const REFUSALS: readonly number[] = [7, 12];

/**
 * @throws LonghaulError `wrong_state` while the operation is open, or one that was resumed from it is there; `not_found`;
 *   `unavailable`, not retryable when Temporal refuses to delete
 */
export async function deleteOperation(
  temporal: TemporalClient,
  secret: Buffer,
  principal: string,
  token: string,
): Promise<void> {
  const workflowId = workflowIdOf(principal, token, secret);
  const found = await temporal.describe(workflowId);
  if (isUnfinished(found, principal)) return complete(temporal, found);
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
  // Somebody else may have deleted it meanwhile, or reset it in Temporal's UI.
  if (isUnfinished(begun, principal)) return complete(temporal, begun);
  startMemoOf(begun, principal);
  throw new LonghaulError('wrong_state', 'the operation was reset meanwhile and is open: cancel it first');
}

/** A deletion of this principal that isn't complete. */
function isUnfinished(found: WorkflowExecutionDescription, principal: string): boolean {
  return !found.closeTime && deletionIn(found)?.principal === principal;
}

/** Completes a deletion. @throws LonghaulError `unavailable` */
export async function complete(temporal: TemporalClient, found: WorkflowExecutionDescription): Promise<void> {
  try {
    await temporal.call(
      (client) => completeDeletion(client, temporal.storage, found, deletionIn(found) as Deletion),
      DELETE_LIMIT_MS,
    );
  } catch (error) {
    if (!isGrpcServiceError(error) || !REFUSALS.includes(error.code)) throw error;
    throw new LonghaulError('unavailable', `this Temporal refuses to delete workflows: ${error.message}`, {
      retryable: false,
      cause: error,
    });
  }
}
