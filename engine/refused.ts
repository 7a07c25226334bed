/**
 * Pipelines with a command that Temporal refuses, such as a time-out out of its range: each workflow task fails in the same way, and no
 * change of the project's files reaches the run. Readers terminate it; the reason in Temporal's history makes it failed, or canceled if
 * that was requested. The workflows of authors wait for their code to be corrected.
 */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import proto from '@temporalio/proto';
import { LonghaulError } from '../operations/errors.js';
import { PAGE_WORKFLOW, PIPELINE_WORKFLOW } from '../pipelines/pipeline.js';
import { isOpen } from './description.js';
import { lastTaskFailure, type TaskFailure } from './history.js';
import type { TemporalClient } from './temporal.js';

const { WorkflowTaskFailedCause } = proto.temporal.api.enums.v1;

/** Begins the reason of a termination that ends such a run. */
const REASON_PREFIX = 'longhaul.refused: ';

/** Attempts of a workflow task from which it is taken to fail for ever: the first ones come at once. */
const LEAST_ATTEMPT = 3;

/** Message in the reason of a termination; undefined if the run was ended for another one. */
export function refusedMessageIn(reason: string | null | undefined): string | undefined {
  return reason?.startsWith(REASON_PREFIX) ? reason.slice(REASON_PREFIX.length) : undefined;
}

/**
 * Terminates the described run if Temporal refuses a command of it. Any number of processes may try: only this run is ended, once.
 *
 * @returns whether the run has ended, so that the description is out of date
 * @throws LonghaulError `unavailable`
 */
export async function endIfRefused(
  temporal: TemporalClient,
  description: WorkflowExecutionDescription,
): Promise<boolean> {
  const { workflowId, runId, type, raw } = description;
  const isOwn = type === PIPELINE_WORKFLOW || type === PAGE_WORKFLOW;
  if (!isOwn || !isOpen(description) || Number(raw.pendingWorkflowTask?.attempt ?? 1) < LEAST_ATTEMPT)
    return false;
  const failure = await lastTaskFailure(temporal, workflowId);
  if (!failure || !isRefusal(failure)) return false;
  const reason = `${REASON_PREFIX}Temporal refuses a command of the pipeline: ${failure.message}`;
  try {
    await temporal.call((client) => client.workflow.getHandle(workflowId, runId).terminate(reason));
    return true;
  } catch (error) {
    if (!(error instanceof LonghaulError)) throw error;
    // It has just ended; or it can't be ended now, and is read as it is.
    return error.kind === 'not_found';
  }
}

/** Whether Temporal's server has refused the attributes of a command, or the SDK its options. */
function isRefusal({ cause, type }: TaskFailure): boolean {
  return /_BAD_\w+_ATTRIBUTES$/.test(WorkflowTaskFailedCause[cause] ?? '') || type === 'ValueError';
}
