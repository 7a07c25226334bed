/** Record of a closed operation: how it ended, and its result or failure. */
import { WorkflowFailedError, type WorkflowExecutionDescription } from '@temporalio/client';
import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  ChildWorkflowFailure,
  rawValueTypeInfo,
  TerminatedFailure,
  TimeoutFailure,
  ValueError,
  type RawValue,
  type Payload,
} from '@temporalio/common';
import { isPastKeepAlive } from '../../operations/tool/budgets.js';
import { defined } from '../../operations/json/defined.js';
import { structuredResult } from '../../operations/wire/external-workflow.js';
import { finalError, isKind, unreadableText, type OperationError } from '../../operations/errors.js';
import { roundProgress } from './progress.js';
import type { OperationRecord, Progress } from '../../operations/record.js';
import { PROGRESS_METADATA, UNAWAITED_METADATA, type ClosingDetails } from '../../operations/wire/index.js';
import { CHILDREN_MEMO, PARTIAL_MEMO, type PublishedState } from '../../operations/wire/state.js';
import { lostValueIn, storageErrorIn } from '../../platform/storage/index.js';
import { encodingOf } from '../../platform/temporal/payload-codec.js';
import type { CancelRequest } from './history.js';
import { overdueMessage } from './overdue.js';
import { lastTaskFailure } from './task-failure.js';
import { terminatedOutcome, type ForcedEnd } from './terminated.js';
import type { StoredValues } from './values.js';
import type { TemporalClient } from '../temporal/client.js';
import { parseKeepingDigits } from '../../operations/json/json-text.js';

interface Outcome {
  result?: unknown;
  error?: OperationError;
  partial?: unknown;
  /** Why storage can't give the result or failure. */
  problem?: OperationError;
  progress?: Progress;
  /** Activities that ran on when the workflow returned. */
  unawaited?: string;
  /** Why a server ended it, if one did. */
  end?: ForcedEnd;
}

interface ClosedOperation {
  description: WorkflowExecutionDescription;
  state: PublishedState;
  cancelRequest: CancelRequest | undefined;
  isExternal: boolean;
}

/** The fields that set a closed operation's record apart from an open one's. */
export async function closedFields(
  temporal: TemporalClient,
  values: StoredValues,
  record: Pick<OperationRecord, 'updatedAt' | 'keepAliveSeconds'>,
  operation: ClosedOperation,
): Promise<Partial<OperationRecord>> {
  const { description, state, isExternal, cancelRequest } = operation;
  const closedAt = description.closeTime?.toISOString() ?? record.updatedAt;
  const outcome = await readOutcome(temporal, description, isExternal);
  const fields: Partial<OperationRecord> = {
    closedAt,
    updatedAt: closedAt > record.updatedAt ? closedAt : record.updatedAt,
    ...defined({ children: state.children }),
    ...(state.claims?.[CHILDREN_MEMO] ? { areChildrenLarge: true as const } : {}),
    ...(outcome.progress ? { progress: roundProgress(outcome.progress) } : {}),
  };
  const { keepAliveSeconds } = record;
  if (isPastKeepAlive({ closedAt, keepAliveSeconds }, await temporal.nowMs()))
    return { ...fields, status: 'expired' };
  const isForced = outcome.end === 'canceled';
  const isRefused = outcome.end === 'refused';
  const isCanceled =
    description.status.name === 'CANCELLED' || isForced || (isRefused && cancelRequest?.at !== undefined);
  const { partial } = outcome;
  return {
    ...fields,
    ...(partial !== undefined
      ? { partial }
      : description.status.name === 'COMPLETED'
        ? {}
        : await largePartial(values, state)),
    ...withCleanupFailure(
      isCanceled
        ? canceledFields(closedAt, operation, isForced && outcome.error?.message)
        : endedFields(temporal, outcome, operation),
      state.cleanupFailure,
    ),
  };
}

/** A failed cleanup stands beside what ended the operation. */
function withCleanupFailure(
  ended: Partial<OperationRecord>,
  cleanupFailure: string | undefined,
): Partial<OperationRecord> {
  const { error, statusMessage } = ended;
  if (cleanupFailure === undefined || !error) return ended;
  const beside = (text: string) => `${text}; a cleanup failed: ${cleanupFailure}`;
  return {
    ...ended,
    statusMessage: beside(statusMessage!),
    error: { ...error, message: beside(error.message) },
  };
}

function endedFields(
  temporal: TemporalClient,
  { result, problem, unawaited, error: failure }: Outcome,
  { description, isExternal }: ClosedOperation,
): Partial<OperationRecord> {
  const { status, workflowId, runId } = description;
  const unreadable = defined({ resultProblem: problem });
  if (status.name === 'COMPLETED')
    return problem === undefined
      ? {
          status: 'completed',
          result: isExternal ? structuredResult(result) : result,
          statusMessage: unawaited === undefined ? 'completed' : `completed, without awaiting ${unawaited}`,
        }
      : {
          status: 'completed',
          ...unreadable,
          statusMessage: `completed; ${unreadableText('the result', problem)}`,
        };
  const error =
    failure ??
    (problem === undefined
      ? finalError('internal', `the workflow is ${status.name}`)
      : finalError('failed', unreadableText('the failure', problem)));
  return {
    status: error.kind === 'timed_out' ? 'timed_out' : 'failed',
    error,
    statusMessage: error.message.split('\n', 1)[0]!,
    ...unreadable,
    ...defined({ temporalUrl: temporal.urlOf(workflowId, runId) }),
  };
}

function canceledFields(
  closedAt: string,
  { state, cancelRequest }: ClosedOperation,
  forced: string | undefined | false,
): Partial<OperationRecord> {
  const cancelReason = forced || (state.cancelReason ?? cancelRequest?.reason);
  const statusMessage = cancelReason ? `canceled: ${cancelReason}` : 'canceled';
  return {
    status: 'canceled',
    cancelRequestedAt: state.cancelRequestedAt ?? cancelRequest?.at ?? closedAt,
    statusMessage,
    error: finalError('canceled', statusMessage),
    ...(cancelReason ? { cancelReason } : {}),
  };
}

async function largePartial(
  values: StoredValues,
  state: PublishedState,
): Promise<Pick<OperationRecord, 'partial' | 'resultProblem'>> {
  if (!state.claims?.[PARTIAL_MEMO]) return {};
  try {
    return defined({ partial: (await values.add(state, [PARTIAL_MEMO])).partial });
  } catch (error) {
    const resultProblem = unreadableIn(error);
    if (!resultProblem) throw error;
    return { resultProblem };
  }
}

/** Reads the outcome from the close event, which the SDK decodes. */
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
    const { result, problem } = resultIn(payload);
    if (problem !== undefined) return { problem: unavailable(problem) };
    if (isExternal) return { result };
    const { [PROGRESS_METADATA]: progress, [UNAWAITED_METADATA]: unawaited } = payload.metadata ?? {};
    return {
      result,
      ...(progress ? { progress: JSON.parse(Buffer.from(progress).toString()) as Progress } : {}),
      ...(unawaited ? { unawaited: JSON.parse(Buffer.from(unawaited).toString()) as string } : {}),
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
    if (failure instanceof TerminatedFailure) return terminatedOutcome(temporal, { workflowId, runId });
    if (failure instanceof TimeoutFailure) {
      const failing = await lastTaskFailure(temporal, workflowId, runId);
      return { error: finalError('timed_out', overdueMessage(memo, failing?.text)) };
    }
    return {
      error: closing?.error ?? workError(failure, error.message, isExternal),
      partial: closing?.partial,
    };
  }
}

/** Why a value can't be read, if storage or its encoding is the cause. */
function unreadableIn(error: unknown): OperationError | undefined {
  const lost = lostValueIn(error);
  if (lost) return finalError('internal', lost.message);
  const isEncoding = isKind(error, 'unavailable') && error.cause instanceof ValueError;
  if (isEncoding) return unavailable(error.message);
  const problem = storageErrorIn(error);
  return problem && unavailable(problem.message);
}

/** Always retryable: an operator may remove the cause. */
function unavailable(message: string): OperationError {
  return { kind: 'unavailable', message, retryable: true };
}

/** Temporal wraps an external workflow's failure: reports the activity's or child's, not the wrapper. */
function workError(failure: Error | undefined, message: string, isExternal: boolean): OperationError {
  const isWrapper = failure instanceof ActivityFailure || failure instanceof ChildWorkflowFailure;
  if (isExternal && isWrapper && failure.cause) return workError(failure.cause, message, isExternal);
  const type = isExternal && failure instanceof ApplicationFailure ? failure.type : undefined;
  return { ...finalError('failed', failure?.message ?? message), ...(type ? { type } : {}) };
}

const BINARY = 'binary/plain';
const JSON_ENCODINGS: ReadonlySet<string> = new Set(['json/plain', 'json/protobuf']);

/** Result of a workflow, in any SDK's encoding. Integers that JavaScript can't hold come as strings. */
export function resultIn(payload: Payload): { result?: unknown; problem?: string } {
  const encoding = encodingOf(payload);
  const data = Buffer.from(payload.data ?? []);
  if (encoding === BINARY)
    return { result: { encoding: 'base64', bytes: data.length, data: data.toString('base64') } };
  if (encoding === 'binary/null') return {};
  if (!JSON_ENCODINGS.has(encoding))
    return {
      problem: `it is encoded as ${encoding || 'nothing known'}, for which this server has no codec`,
    };
  try {
    // Protobuf's JSON needs no message types.
    return { result: parseKeepingDigits(data.toString('utf8')) };
  } catch {
    return { problem: `it is marked as ${encoding}, but isn't JSON` };
  }
}
