/** Terminated runs: ended by a server of Longhaul's, by Temporal itself, or by an operator. The failure that the SDK makes of it doesn't say. */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import proto from '@temporalio/proto';
import { finalError, LonghaulError, type OperationError } from '../../operations/errors.js';
import type { TemporalClient } from '../temporal/client.js';
import { eventsFromEnd } from './history.js';
import type { OperationStatus } from '../../operations/record.js';
import { GRPC, isGrpcError } from '../../platform/temporal/grpc-errors.js';
import { isOpen } from '../../platform/temporal/find-workflow.js';
import { PAGE_WORKFLOW, PIPELINE_WORKFLOW } from '../../pipelines/pipeline.js';
import type { RunInfo } from '../list/current-runs.js';
import { lastTaskFailure, type TaskFailure } from './task-failure.js';

const { WorkflowTaskFailedCause } = proto.temporal.api.enums.v1;

/** Why a server ends a run: a forced cancel, a maximum duration that has passed, a command that Temporal refuses. */
export type ForcedEnd = 'canceled' | 'timed_out' | 'refused';

/** A reason of Longhaul's in the history: `longhaul.timed_out: the work took ...`. */
const FORCED = /^longhaul\.(canceled|timed_out|refused): (.*)$/s;

interface Run {
  workflowId: string;
  /** Default: the current run. */
  runId?: string;
}

/** Terminates a run, with a reason that says why. @throws LonghaulError `not_found`, `unavailable` */
export async function terminate(
  temporal: TemporalClient,
  { workflowId, runId }: Run,
  end: ForcedEnd,
  message: string,
): Promise<void> {
  await temporal.call((client) =>
    client.workflow.getHandle(workflowId, runId).terminate(`longhaul.${end}: ${message}`),
  );
}

/** Terminates a run that can't end by itself. Any number of processes may try. @returns undefined if it may still be open */
export async function endRun(
  ...args: Parameters<typeof terminate>
): Promise<'terminated' | 'gone' | undefined> {
  try {
    await terminate(...args);
    return 'terminated';
  } catch (error) {
    if (!(error instanceof LonghaulError)) throw error;
    // It has just ended or continued. Any other run stays as it is for now.
    return error.kind === 'not_found' ? 'gone' : undefined;
  }
}

function forcedEndIn(reason: string): { end: ForcedEnd; message: string } | undefined {
  const [, end, message] = FORCED.exec(reason) ?? [];
  return end === undefined ? undefined : { end: end as ForcedEnd, message: message! };
}

/** Identity in the closing event if Temporal's server ends a run by itself. */
const TEMPORAL = 'history-service';
/** Temporal's reasons, with its default limits. */
const LIMITS: readonly [reason: RegExp, limit: string][] = [
  [/^Workflow history size exceeds limit/, 'history over 50 MiB'],
  [/^Workflow history count exceeds limit/, 'history over 51,200 events'],
  [/^Workflow mutable state size exceeds limit/, 'pending work over 8 MiB'],
];

interface TerminatedOutcome {
  error: OperationError;
  /** Set if a server ended it. */
  end?: ForcedEnd;
}

/** @throws LonghaulError `not_found`, `unavailable` */
export async function terminatedOutcome(
  temporal: TemporalClient,
  run: { workflowId: string; runId: string },
): Promise<TerminatedOutcome> {
  const { reason, identity } = await closingEvent(temporal, run);
  const { end, message } = forcedEndIn(reason) ?? {};
  if (end) return { error: finalError(end === 'refused' ? 'failed' : end, message!), end };
  const [who, why] =
    identity === TEMPORAL ? ['Temporal ended it', limitIn(reason)] : ['terminated by an operator', reason];
  return { error: finalError('terminated', why ? `${who}: ${why}` : who) };
}

/** Status of a listed run that was terminated. Lists have no reasons. */
export async function terminatedStatus(
  temporal: TemporalClient,
  { execution }: RunInfo,
): Promise<OperationStatus> {
  const { workflowId, runId } = execution ?? {};
  if (!workflowId || !runId) return 'failed';
  try {
    const { reason } = await closingEvent(temporal, { workflowId, runId });
    const end = forcedEndIn(reason)?.end ?? 'refused';
    return end === 'refused' ? 'failed' : end;
  } catch (error) {
    // Lists lag: it has been deleted.
    if (!isGrpcError(error, GRPC.notFound)) throw error;
    return 'failed';
  }
}

async function closingEvent(temporal: TemporalClient, run: { workflowId: string; runId: string }) {
  for await (const event of eventsFromEnd(temporal, run, 1, 1)) {
    const { reason, identity } = event.workflowExecutionTerminatedEventAttributes ?? {};
    return { reason: reason ?? '', identity };
  }
  return { reason: '', identity: undefined };
}

function limitIn(reason: string): string {
  return LIMITS.find(([pattern]) => pattern.test(reason))?.[1] ?? reason;
}

/** Attempt from which a workflow task counts as failing forever. The first attempts come at once. */
const LEAST_ATTEMPT = 3;

/**
 * Ends a pipeline with a command that Temporal refuses, such as a time-out out of its range: each workflow task would fail, and edits of
 * the project's files don't reach the run. It counts as failed, or as canceled if that was requested. Authors' own workflows wait for a fix.
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
  const reason = `Temporal refuses a command of the pipeline: ${failure.message}`;
  return (await endRun(temporal, { workflowId, runId }, 'refused', reason)) !== undefined;
}

/** Whether Temporal's server refused a command's attributes, or the SDK its options. */
function isRefusal({ cause, type }: TaskFailure): boolean {
  return /_BAD_\w+_ATTRIBUTES$/.test(WorkflowTaskFailedCause[cause] ?? '') || type === 'ValueError';
}
