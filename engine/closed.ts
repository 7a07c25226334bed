/** Record of a closed operation: how it ended, with its result or failure. */
import { WorkflowFailedError, type WorkflowExecutionDescription } from '@temporalio/client';
import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  ChildWorkflowFailure,
  defaultPayloadConverter,
  rawValueTypeInfo,
  TerminatedFailure,
  TimeoutFailure,
  type RawValue,
} from '@temporalio/common';
import { isPastKeepAlive } from '../operations/budgets.js';
import { defined } from '../operations/defined.js';
import { structuredResult } from '../operations/external-workflow.js';
import { unreadableText, type ErrorKind, type OperationError } from '../operations/errors.js';
import { roundProgress } from '../operations/progress-digits.js';
import type { OperationRecord, Progress } from '../operations/record.js';
import { PROGRESS_METADATA, type ClosingDetails, type StateMemo } from '../operations/wire.js';
import { readClosedState } from '../platform/closed-state.js';
import { lostValueIn, storageErrorIn } from '../platform/storage/index.js';
import type { CancelRequest } from './history.js';
import { overdueMessage, overdueMessageIn } from './overdue.js';
import { refusedMessageIn } from './refused.js';
import { externalOutcome, resultIn } from './external/result.js';
import type { TemporalClient } from './temporal.js';

interface Outcome {
  result?: unknown;
  error?: OperationError;
  partial?: unknown;
  /** Why result or failure can't be read from storage. */
  problem?: OperationError;
  /** Final progress of a completed operation. */
  progress?: Progress;
  /** It was ended since Temporal refuses one of its commands. */
  isRefused?: boolean;
}

/** Completes the record of a closed operation. */
export async function describeClosed(
  temporal: TemporalClient,
  description: WorkflowExecutionDescription,
  state: StateMemo,
  record: OperationRecord,
  cancelRequest: CancelRequest = {},
  isExternal = false,
): Promise<void> {
  const { closeTime } = description;
  record.closedAt = closeTime?.toISOString() ?? record.updatedAt;
  if (record.closedAt > record.updatedAt) record.updatedAt = record.closedAt;
  if (state.children) record.children = state.children;
  if (state.areChildrenLarge) record.areChildrenLarge = true;
  const outcome = await readOutcome(temporal, description, isExternal);
  if (outcome.progress) record.progress = roundProgress(outcome.progress);
  if (isPastKeepAlive(record, await temporal.nowMs())) {
    record.status = 'expired';
    return;
  }
  if (outcome.partial !== undefined) record.partial = outcome.partial;
  switch (description.status.name) {
    case 'COMPLETED':
      record.status = 'completed';
      if (outcome.problem === undefined)
        record.result = isExternal ? structuredResult(outcome.result) : outcome.result;
      else record.resultProblem = outcome.problem;
      record.statusMessage =
        outcome.problem === undefined
          ? 'completed'
          : `completed; ${unreadableText('the result', outcome.problem)}`;
      return;
    case 'CANCELLED':
      return describeCanceled(temporal, description, state, record, cancelRequest);
    default:
      if (outcome.isRefused && cancelRequest.at !== undefined)
        return describeCanceled(temporal, description, state, record, cancelRequest);
      if (outcome.problem !== undefined) record.resultProblem = outcome.problem;
      record.error =
        outcome.error ??
        (outcome.problem === undefined
          ? finalError('internal', `the workflow is ${description.status.name}`)
          : finalError('failed', unreadableText('the failure', outcome.problem)));
      record.status = record.error.kind === 'timed_out' ? 'timed_out' : 'failed';
      record.statusMessage = record.error.message.split('\n', 1)[0]!;
      Object.assign(
        record,
        defined({ temporalUrl: temporal.urlOf(description.workflowId, description.runId) }),
      );
  }
}

async function describeCanceled(
  temporal: TemporalClient,
  description: WorkflowExecutionDescription,
  state: StateMemo,
  record: OperationRecord,
  cancelRequest: CancelRequest,
): Promise<void> {
  const reason = state.cancelReason ?? cancelRequest.reason;
  record.status = 'canceled';
  record.cancelRequestedAt = state.cancelRequestedAt ?? cancelRequest.at ?? record.closedAt!;
  record.statusMessage = reason ? `canceled: ${reason}` : 'canceled';
  if (reason) record.cancelReason = reason;
  if (state.isPartialLarge) {
    // A record without the partial result is better than none.
    const whole = await readClosedState(description, temporal.storage).catch((error: unknown) => {
      const problem = unreadableIn(error);
      if (!problem) throw error;
      record.resultProblem = problem;
      return undefined;
    });
    if (whole?.partial !== undefined) record.partial = whole.partial;
  }
  record.error = finalError('canceled', record.statusMessage);
}

/** Outcome of a closed workflow: its close event, decoded by the SDK. */
async function readOutcome(
  temporal: TemporalClient,
  { workflowId, runId, memo }: WorkflowExecutionDescription,
  isExternal: boolean,
): Promise<Outcome> {
  try {
    const handle = (client: TemporalClient['client']) =>
      client.workflow.getHandle<() => Promise<RawValue>>(workflowId, runId, {
        followRuns: false,
        typeInfo: { outputType: rawValueTypeInfo },
      });
    const { payload } = await temporal.call((client) => handle(client).result(), 10_000);
    const progress = payload.metadata?.[PROGRESS_METADATA];
    if (isExternal) {
      const { problem, ...outcome } = externalOutcome(payload);
      return problem === undefined ? outcome : { problem: unavailable(problem) };
    }
    return {
      result: resultIn(payload),
      ...(progress ? { progress: JSON.parse(Buffer.from(progress).toString()) as Progress } : {}),
    };
  } catch (error) {
    const problem = unreadableIn(error);
    if (problem) return { problem };
    if (!(error instanceof WorkflowFailedError)) throw error;
    const failure = error.cause;
    const details = failure instanceof ApplicationFailure ? failure.details?.[0] : undefined;
    const closing =
      (details as ClosingDetails | undefined)?.longhaul === 'closing'
        ? (details as ClosingDetails)
        : undefined;
    if (failure instanceof CancelledFailure) return {};
    if (failure instanceof TerminatedFailure) {
      const overdue = overdueMessageIn(failure.message);
      if (overdue !== undefined) return { error: finalError('timed_out', overdue) };
      const refused = refusedMessageIn(failure.message);
      if (refused !== undefined) return { error: finalError('failed', refused), isRefused: true };
      const why = failure.message ? `: ${failure.message}` : '';
      return { error: finalError('terminated', `terminated by an operator${why}`) };
    }
    if (failure instanceof TimeoutFailure) return { error: finalError('timed_out', overdueMessage(memo)) };
    return {
      error: closing?.error ?? workError(failure, error.message, isExternal),
      partial: closing?.partial,
    };
  }
}

/** Why a value can't be read, if storage is the reason. */
function unreadableIn(error: unknown): OperationError | undefined {
  const lost = lostValueIn(error);
  if (lost) return finalError('internal', lost.message);
  const problem = storageErrorIn(error);
  return problem && unavailable(problem.message);
}

/** Retryable whatever the cause: an operator may remove it. */
function unavailable(message: string): OperationError {
  return { kind: 'unavailable', message, retryable: true };
}

/** An external workflow's failure has that of its activity or child as its cause, and says nothing of it itself. */
function workError(failure: Error | undefined, message: string, isExternal: boolean): OperationError {
  const isWrapper = failure instanceof ActivityFailure || failure instanceof ChildWorkflowFailure;
  if (isExternal && isWrapper && failure.cause) return workError(failure.cause, message, isExternal);
  const type = isExternal && failure instanceof ApplicationFailure ? failure.type : undefined;
  return { ...finalError('failed', failure?.message ?? message), ...(type ? { type } : {}) };
}

function finalError(kind: ErrorKind, message: string): OperationError {
  return { kind, message, retryable: false };
}
