/**
 * The contract between the engine and the workflow runtime in Temporal: queries, updates and signals with their types, and
 * the shapes of the memo. One small file that both sides import, and that has no imports of its own but types.
 */
import type { QueryDefinition, SignalDefinition, UpdateDefinition } from '@temporalio/common';
import type { OperationError } from './errors.js';
import type { Answer, AnsweredRequest, ChildRecord, InputRequest, Progress } from './record.js';

// As Temporal's functions of these names, which are in a package that only workflows may load.
const defineQuery = <Ret, Args extends unknown[] = []>(name: string) =>
  ({ type: 'query', name }) as QueryDefinition<Ret, Args>;
const defineUpdate = <Ret, Args extends unknown[] = []>(name: string) =>
  ({ type: 'update', name }) as UpdateDefinition<Ret, Args>;
const defineSignal = <Args extends unknown[] = []>(name: string) =>
  ({ type: 'signal', name }) as SignalDefinition<Args>;

/** The whole record's live part, `partial` included. */
export const OPERATION_QUERY = defineQuery<StateMemo>('operation');
/** Answered by workflows that can be resumed. */
export const RESUME_QUERY = defineQuery<ResumePlan, [ResumeRequest]>('resume');
/** Answers an input request; refused when the answer doesn't fit. */
export const PROVIDE_INPUT_UPDATE = defineUpdate<void, [ProvidedInput]>('provide_input');
/** Answers an input request while no worker is there to take the update. */
export const PROVIDE_INPUT_SIGNAL = defineSignal<[ProvidedInput]>('provide_input');
/** Cancels like Temporal's own cancel request, for clients that can only signal. */
export const CANCEL_OPERATION_SIGNAL = defineSignal<[reason?: string]>('cancel_operation');
/** From a child workflow to its parent. */
export const PART_NOTICE_SIGNAL = defineSignal<[PartNotice]>('longhaul_part');

/** Local activity of every worker: requests the cancellation of its own workflow. Takes a reason. */
export const REQUEST_CANCEL_ACTIVITY = 'longhaul_request_cancel';
/** Local activity of every worker: reads the progress in a closed child workflow's memo. Takes its workflow ID. */
export const CHILD_PROGRESS_ACTIVITY = 'longhaul_child_progress';

/** Header of the activities of an operation and of its parts: the operation's token. The worker wraps activities that have it. */
export const OPERATION_HEADER = 'longhaul';
/** Header of the activities of parts: the operation's workflow ID, under which storage keeps artifacts. */
export const OPERATION_ID_HEADER = 'longhaul_workflow_id';

/** Header of the activities of an operation and of its parts, for their log lines: a {@link LogContext}. */
export const LOG_CONTEXT_HEADER = 'longhaul_log';

/** Memo key of what is fixed at the start. */
export const START_MEMO = 'longhaul';
/** Memo key of what the shell keeps up to date. */
export const STATE_MEMO = 'operation';

/** Memo key of a part: a child workflow, at any depth, that belongs to an operation. Holds a {@link PartMemo}. */
export const PART_MEMO = 'longhaul_part';

/** Largest state that the shell writes into the memo, in bytes of JSON. */
export const STATE_MEMO_LIMIT_BYTES = 64 * 1024;

/** The principal of a server without authentication. */
export const ANONYMOUS = 'anonymous';

/** The token of a workflow ID: the same for the anonymous principal, what follows the principal's tag for others. */
export function tokenOf(principal: string, workflowId: string): string {
  return principal === ANONYMOUS ? workflowId : workflowId.slice(workflowId.indexOf('.') + 1);
}

/** Longhaul's marker: a workflow without it is none of ours. Written once, by the engine, with the start. */
export interface StartMemo {
  version: 1;
  tool: string;
  principal: string;
  /** HMAC of tool and arguments: tells a repeated start from another one under the same token. */
  argumentsDigest: string;
  deadlineSeconds: number;
  keepAliveSeconds: number;
  estimateSeconds?: number;
  /** Size of the work, as far as it was known at the start, in what the tool counts. */
  size?: number;
  /** Kind of call that estimates tell apart; missing for the usual one. */
  variant?: string;
  /** Does this Temporal know Longhaul's search attributes? An unknown one would block the workflow. */
  searchAttributes: boolean;
  attempt: number;
  resumedFrom?: string;
  session?: string;
  /** What notifications of its progress are marked with, for as long as it is open. */
  progressToken?: string | number;
  /** ID of the call that started it, where cancelling the call cancels the work (SEP-1391). */
  requestId?: string | number;
  /** Random, or made from the idempotency key; tells a repeated start from another one under the same token, where the token has to be new. */
  startId?: string;
  /** ISO 8601; set when the workflow continues as new, since the later run has a start time of its own. */
  createdAt?: string;
}

/** Written once, by the parent's workflow, with the start of a part. */
export interface PartMemo {
  version: 1;
  /** Workflow ID of the operation. */
  operationId: string;
  /** Token of the operation. */
  token: string;
  /** The operation's tool; missing in parts that earlier releases started. */
  tool?: string;
  /** Unique among the parts of its parent. */
  name: string;
}

/** What lines of logs say of the operation beside its token. */
export interface LogContext {
  /** The operation's tool; missing in parts that earlier releases started. */
  tool?: string;
  /** Name of the part that logs; missing in the operation's own workflow. */
  part?: string;
}

/** What a part's parent has to know of it while it is open; each notice replaces the one before. */
export interface PartNotice {
  workflowId: string;
  /** Its open input requests by its own keys; those of its own parts included. */
  inputRequests: Record<string, InputRequest>;
  /** Those of its input requests for which a default was taken; missing from parts of earlier releases. */
  defaults?: AnsweredRequest[];
  /** Does it wait for people alone? */
  onlyPeopleAwaited: boolean;
}

/** What changes, in the memo and in the query's answer. */
export interface StateMemo {
  stage?: string;
  progress?: Progress;
  /**
   * Units that ended activities had announced as their total and not reached: they count in the total while the workflow
   * itself has named none. Missing until an activity with a total has ended.
   */
  unreached?: number;
  inputRequests?: Record<string, InputRequest>;
  /** The latest answered ones, in their order. */
  answers?: AnsweredRequest[];
  /** Input requests made so far: the next key's number, so that no key is used twice. */
  inputRequestCount?: number;
  /** Child workflows started so far: makes the names of parts unique. */
  partCount?: number;
  /** Milliseconds for which only people were awaited. */
  awaitedMs?: number;
  /** Milliseconds for which all of its work waited for a worker. */
  queuedMs?: number;
  /** Size of the work, once the workflow has said it. */
  size?: number;
  /** Milliseconds that are left of the deadline; carried along when the workflow continues as new. */
  deadlineRemainingMs?: number;
  /** ISO 8601; set when the shell has seen the cancel. */
  cancelRequestedAt?: string;
  cancelReason?: string;
  updatedAt?: string;
  /** In the memo only while it is small. */
  partial?: unknown;
  /** The partial result is too large for the memo: the query has it. */
  isPartialLarge?: boolean;
  /** In the memo only once the operation is closed, while they are small. */
  children?: ChildRecord[];
  /** There are too many children for the memo: the query has them. */
  areChildrenLarge?: boolean;
}

/** Where a closed operation is to be taken up again. */
export interface ResumeRequest {
  /** Workflow ID of the operation that is asked. */
  workflowId: string;
  /** Name of the step to go on from; else after the last finished one. */
  from?: string;
  /** Arguments that are other than before. */
  changes?: Record<string, unknown>;
}

/** What the new operation's workflow gets, or why there can't be one. */
export type ResumePlan = { input: unknown } | { problem: string };

/** An answer on its way. */
export interface ProvidedInput {
  key: string;
  /** The same answer sent twice (an update and then a signal) counts once. */
  answerId: string;
  answer: Answer;
  /** Set when the parent of a part hands the answer on. */
  isForwarded?: true;
}

/** Detail of the failure or cancellation that ends an operation's workflow. */
export interface ClosingDetails {
  longhaul: 'closing';
  error?: OperationError;
  partial?: unknown;
}

/** Search attributes; all keywords. */
export const SEARCH_ATTRIBUTES = {
  principal: 'LonghaulPrincipal',
  tool: 'LonghaulTool',
  status: 'LonghaulStatus',
  session: 'LonghaulSession',
  idempotencyKey: 'LonghaulIdempotencyKey',
} as const;
