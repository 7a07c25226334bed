/**
 * Ends pipelines with a command that Temporal refuses, such as a time-out out of its range: each workflow task would fail, and edits of the
 * project's files don't reach the run. Readers terminate it; the reason in the history marks it as failed, or canceled if requested.
 * Authors' own workflows wait for a fix.
 */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import proto from '@temporalio/proto';
import { LonghaulError } from '../../operations/errors.js';
import { PAGE_WORKFLOW, PIPELINE_WORKFLOW } from '../../pipelines/pipeline.js';
import { isOpen } from '../../platform/temporal/find-workflow.js';
import { lastTaskFailure, type TaskFailure } from './task-failure.js';
import type { TemporalClient } from '../temporal/client.js';

const { WorkflowTaskFailedCause } = proto.temporal.api.enums.v1;

/** Begins the termination reason of such a run. */
const REASON_PREFIX = 'longhaul.refused: ';

/** Attempt from which a workflow task counts as failing forever. The first attempts come at once. */
const LEAST_ATTEMPT = 3;

/** Message in a termination reason; undefined for another reason. */
export function refusedMessageIn(reason: string | null | undefined): string | undefined {
  return reason?.startsWith(REASON_PREFIX) ? reason.slice(REASON_PREFIX.length) : undefined;
}

/**
 * Terminates the run if Temporal refuses one of its commands. Any number of processes may try.
 *
 * @returns whether the run has ended, so the description is out of date
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
    // It has just ended. Any other run stays as it is for now.
    return error.kind === 'not_found';
  }
}

/** Whether Temporal's server refused a command's attributes, or the SDK its options. */
function isRefusal({ cause, type }: TaskFailure): boolean {
  return /_BAD_\w+_ATTRIBUTES$/.test(WorkflowTaskFailedCause[cause] ?? '') || type === 'ValueError';
}
