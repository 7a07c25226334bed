/**
 * The contract between the engine and the workflow runtime in Temporal: queries, updates and signals with their types, and
 * the shapes of the memo. A small file that both sides import. docs/runtime-contract publishes it for workers in other languages:
 * a change here changes the specification and its schemas.
 */
import { defineQuery, defineSignal, defineUpdate } from './definitions.js';
import type { OperationError } from './errors.js';
import type { ToolQueue } from './tool-queue.js';
import type { Answer, AnsweredRequest, Answerer, ChildRecord, InputRequest, Progress } from './record.js';

/** Complete state of the operation, including large partial results and children. A closed one has it in its memos. */
export const OPERATION_QUERY = defineQuery<StateMemo>('operation');
/** Answers an input request; rejected if the answer doesn't match the schema. */
export const PROVIDE_INPUT_UPDATE = defineUpdate<void, [ProvidedInput]>('provide_input');
/** Answers an input request while no worker can take the update. */
export const PROVIDE_INPUT_SIGNAL = defineSignal<[ProvidedInput]>('provide_input');
/** Cancels like Temporal's own cancel request, for clients that can only signal. */
export const CANCEL_OPERATION_SIGNAL = defineSignal<[reason?: string]>('cancel_operation');
/** Notice from a child workflow to its parent. */
export const PART_NOTICE_SIGNAL = defineSignal<[PartNotice]>('longhaul_part');

/** Local activity of every worker: requests the cancellation of its own workflow. Argument: a reason. */
export const REQUEST_CANCEL_ACTIVITY = 'longhaul_request_cancel';
/** Local activity of every worker: reads the progress in a closed child workflow's memo. Argument: its workflow ID. */
export const CHILD_PROGRESS_ACTIVITY = 'longhaul_child_progress';

/** Local activity of every worker: verifies the signature of an answer. Argument: an {@link AnswerProof}; result: a problem, or null. */
export const VERIFY_ANSWER_ACTIVITY = 'longhaul_verify_answer';

/**
 * Local activity of every worker: checks once whether the workflow of a schedule may work now. Argument: a {@link ScheduledStart};
 * result: a problem, or null.
 */
export const VERIFY_SCHEDULED_START_ACTIVITY = 'longhaul_verify_scheduled_start';

/** Header of the activities of an operation and of its parts: the operation's token. The worker wraps activities with it. */
export const OPERATION_HEADER = 'longhaul';
/** Header of the activities of parts: the operation's workflow ID, under which storage keeps artifacts. */
export const OPERATION_ID_HEADER = 'longhaul_workflow_id';

/** Header of the activities of an operation and of its parts, for their log lines: a {@link LogContext}. */
export const LOG_CONTEXT_HEADER = 'longhaul_log';

/**
 * Header of Temporal's own OpenTelemetry interceptors, in all SDKs: the trace's context, a `TraceCarrier`. Set by the client with
 * starts, updates and signals; the runtime passes that of the start along, unread, to activities, child workflows and later runs.
 */
export const TRACE_HEADER = '_tracer-data';

/** Header of signals that answer external workflows: an {@link AnswerHeader}. */
export const ANSWER_HEADER = 'longhaul_answer';

/**
 * Header of the activities of an operation, of its parts and of its other child workflows: the signature of the operation's start.
 */
export const SIGNATURE_HEADER = 'longhaul_signature';

/** Type of the failure of a workflow or activity whose start wasn't signed, or was signed for something else. */
export const UNSIGNED = 'longhaul.unsigned';
/** Type of the failure of an activity whose operation was signed with another key than this worker's. */
export const OTHER_KEY = 'longhaul.other_key';

/** Memo key of the {@link StartMemo}. */
export const START_MEMO = 'longhaul';
/** Memo key of the {@link StateMemo}. */
export const STATE_MEMO = 'operation';
/** Memo key of the {@link StoredClaim} of a {@link LargeState}; written as the workflow closes. */
export const LARGE_STATE_MEMO = 'operation_large';

/** Metadata key of payloads that the worker stores, whatever their size: history gets a {@link StoredClaim} in their place. */
export const STORED_METADATA = 'longhaul-stored';

/** Metadata key of the payload that is a completed operation's result: its final progress, as JSON. */
export const PROGRESS_METADATA = 'longhaul-progress';

/** Memo key of the {@link PartMemo} of a part: a child workflow, at any depth, that belongs to an operation. */
export const PART_MEMO = 'longhaul_part';

/** Memo key of the {@link OriginMemo}. */
export const ORIGIN_MEMO = 'longhaul_origin';

/** Maximum size of the state memo, in bytes of JSON. */
export const STATE_MEMO_LIMIT_BYTES = 64 * 1024;

/** Principal of all callers of a server without authentication. */
export const ANONYMOUS = 'anonymous';

/** Token of an operation, from its workflow ID: equal for the anonymous principal, else the text after the principal's tag. */
export function tokenOf(principal: string, workflowId: string): string {
  return principal === ANONYMOUS ? workflowId : workflowId.slice(workflowId.indexOf('.') + 1);
}

/**
 * Token of one of the owner's operations as the reader of a record knows it: its workflow ID, if the record itself is read under
 * its workflow ID by another principal.
 */
export function tokenBeside(
  { token, principal }: { token: string; principal: string },
  workflowId: string,
): string {
  const tag = workflowId.slice(0, workflowId.indexOf('.') + 1);
  return principal !== ANONYMOUS && token.startsWith(tag) ? workflowId : tokenOf(principal, workflowId);
}

/** Memo that identifies a workflow as an operation. Written once, by the engine, with the start. */
export interface StartMemo {
  version: 1;
  tool: string;
  principal: string;
  /** HMAC of tool and arguments: distinguishes a repeated start from another one under the same token. */
  argumentsDigest: string;
  deadlineSeconds: number;
  /** Budget for the end of the operation beyond the deadline. Default: 5 minutes; external workflows have none. */
  cleanupSeconds?: number;
  /** Time that people may take to answer; 0 if it asks nothing. Missing for external workflows. */
  inputWaitSeconds?: number;
  keepAliveSeconds: number;
  estimateSeconds?: number;
  /** Size of the work in the tool's units, if it was known at the start. */
  size?: number;
  /** Name of the estimate variant; missing for the default one. */
  variant?: string;
  /** The tool's priority, 1 to 5; missing for the default one. */
  priority?: number;
  /** The tool's queue; missing if its operations run at once. */
  queue?: ToolQueue;
  /** Whether this Temporal has Longhaul's search attributes. Setting an unknown one would block the workflow. */
  searchAttributes: boolean;
  attempt: number;
  resumedFrom?: string;
  /** Principals that changed arguments in a resume, of this operation or of those that it continues. */
  changedBy?: string[];
  session?: string;
  /** Progress token for notifications of its progress while it is open. */
  progressToken?: string | number;
  /** ID of the call that started it, if cancelling the call cancels the work (SEP-1391). */
  requestId?: string | number;
  /** Context of the request that started it, as W3C's traceparent; missing if the request belonged to no trace. */
  traceparent?: string;
  /** ID of the request that started it, for log lines. */
  startRequestId?: string;
  /** Random, or derived from the idempotency key: distinguishes a repeated start from another one if the token must be new. */
  startId?: string;
  /** ISO 8601, by Temporal's clock; start of the operation. Missing: the start of its run, which continues no other. */
  createdAt?: string;
  /** Whether answers without a signature are accepted. Default: true. */
  operatorAnswers?: false;
  /** Signature of type, ID and input of the workflow, and of this memo; missing in starts that no server of Longhaul made. */
  signature?: string;
  /** `none`: workers without Longhaul's runtime run the workflow. Missing: Longhaul's own. */
  runtime?: 'none';
  /** Whether its token is a sealed one, since its workflow ID isn't the token or it is in another namespace. */
  hasSealedToken?: true;
}

/** Memo that identifies a child workflow as a part. Written once, by the parent's workflow, with the start of the part. */
export interface PartMemo {
  version: 1;
  /** Workflow ID of the operation. */
  operationId: string;
  /** Token of the operation. */
  token: string;
  /** The operation's tool. */
  tool: string;
  /** Those of the operation. */
  cleanupSeconds: number;
  inputWaitSeconds?: number;
  /** Principal of the operation; missing for {@link ANONYMOUS}. */
  principal?: string;
  /** As in the start memo. */
  changedBy?: string[];
  /** As in the start memo. */
  operatorAnswers?: false;
  traceparent?: string;
  startRequestId?: string;
  /** Signature of the operation's start. */
  signature?: string;
  /** Names from the operation's part to this one, with `/`; missing in parts of the operation itself. */
  path?: string;
  /** Unique among the parts of its parent. */
  name: string;
}

/** Memo of a child workflow that is no part of its operation, since it may outlive it. */
export interface OriginMemo {
  /** Workflow ID of the operation. */
  operationId: string;
  /** Signature of the operation's start. */
  signature: string;
}

/** Fields of log lines that identify the operation, besides its token. */
export interface LogContext {
  /** The operation's tool. */
  tool?: string;
  principal?: string;
  /** ID of the request that started it. */
  requestId?: string;
  /** Name of the part that logs; missing in the operation's own workflow. */
  part?: string;
  /** When the operation was started, in milliseconds since 1970; only until it has reported progress. */
  startedMs?: number;
}

/** State of an open part for its parent; each notice replaces the previous one. */
export interface PartNotice {
  workflowId: string;
  /** Its open input requests, including those of its own parts, by its own keys. */
  inputRequests: Record<string, InputRequest>;
  /** Its input requests that were answered with a default, if there are any. */
  defaults?: KeptAnswer[];
  /** Forwarded answers that it has refused since the last notice: their question was no longer open. */
  refused?: { key: string; answerId: string; reason: string }[];
  /** Whether it waits for people only. */
  onlyPeopleAwaited: boolean;
}

/** Answer in a state memo. `by` is only claimed: readers verify the signature. */
export interface KeptAnswer extends Omit<AnsweredRequest, 'state'> {
  signature?: string;
}

/** State of an operation: in the memo, kept up to date by the runtime, and complete in the query's answer. */
export interface StateMemo {
  stage?: string;
  progress?: Progress;
  /**
   * Units that ended activities had announced in their totals and did not reach: part of the total while the workflow itself
   * has set none. Missing until an activity with a total has ended.
   */
  unreached?: number;
  inputRequests?: Record<string, InputRequest>;
  /** ISO 8601; since when there has been an open input request without a break. Only while there is one. */
  questionsSince?: string;
  /** The latest answered input requests, oldest first. */
  answers?: KeptAnswer[];
  /** The latest answers that were sent as signals and refused, oldest first. */
  refusedAnswers?: KeptAnswer[];
  /** Number of input requests so far: numbers their keys, so that no key is used twice. */
  inputRequestCount?: number;
  /** Number of child workflows started so far: makes the names of parts unique. */
  partCount?: number;
  /** Time for which only people were awaited, in milliseconds. */
  awaitedMs?: number;
  /** {@link awaitedMs} at the start of the current run, if it continues another one. */
  awaitedBeforeMs?: number;
  /** Time for which all of its work waited for a worker, in milliseconds. */
  queuedMs?: number;
  /** ISO 8601; when an operation with a queue got its turn, and how long it had waited, in milliseconds. */
  turnAt?: string;
  turnWaitedMs?: number;
  /** Size of the work, once the workflow has reported it. */
  size?: number;
  /** Remaining time to the deadline, in milliseconds; passed on when the workflow continues as new. */
  deadlineRemainingMs?: number;
  /** ISO 8601; set once the runtime has processed the cancel request. */
  cancelRequestedAt?: string;
  cancelReason?: string;
  updatedAt?: string;
  /** Partial result; in the memo only while it is small. */
  partial?: unknown;
  /** Whether the partial result is too large for the memo: the query has it, or the {@link LargeState} of a canceled operation. */
  isPartialLarge?: boolean;
  /** In the memo only once the operation is closed, and only if they are small. */
  children?: ChildRecord[];
  /** Whether there are too many children for the memo: then the {@link LargeState} has them. */
  areChildrenLarge?: boolean;
}

/** State of a closed workflow that is too large for the memo. It is in storage, so that describes and lists stay small. */
export type LargeState = Pick<StateMemo, 'children' | 'partial'>;

/** Reference to a value in storage that readers fetch only if they need it. */
export interface StoredClaim {
  longhaul: 'stored';
  /** Key in storage. */
  key: string;
}

/** Payload of {@link PROVIDE_INPUT_UPDATE} and {@link PROVIDE_INPUT_SIGNAL}. */
export interface ProvidedInput {
  key: string;
  /**
   * An answer that is sent twice (as an update, then as a signal) counts once. Longhaul's servers derive it from the answer with a
   * key, so nobody else can send another answer under it first. 1 to 200 characters.
   */
  answerId: string;
  answer: Answer;
  /** Set if the parent of a part forwards the answer. */
  isForwarded?: true;
  /** Who answers; missing for callers without authentication, and for operators. */
  by?: Answerer;
  /** Signature of the answer, with key, ID and answerer. */
  signature?: string;
}

/** Names an answer whose signal has the arguments of an external workflow. */
export interface AnswerHeader extends Pick<ProvidedInput, 'key' | 'answerId'> {
  action: Answer['action'];
  by: Answerer;
  /** Signature of the other fields. */
  signature: string;
}

/** Argument of {@link VERIFY_ANSWER_ACTIVITY}. */
export interface AnswerProof {
  /** Workflow ID of the operation. */
  operationId: string;
  signature: string;
}

/** Argument of {@link VERIFY_SCHEDULED_START_ACTIVITY}. */
export interface ScheduledStart {
  signature: string;
  /** When Temporal has started the run, in milliseconds since 1970. */
  startedMs: number;
}

/** Details of the failure or cancellation that ends an operation's workflow. */
export interface ClosingDetails {
  longhaul: 'closing';
  error?: OperationError;
  partial?: unknown;
}

/** Search attributes; all of type Keyword. */
export const SEARCH_ATTRIBUTES = {
  principal: 'LonghaulPrincipal',
  tool: 'LonghaulTool',
  status: 'LonghaulStatus',
  session: 'LonghaulSession',
  idempotencyKey: 'LonghaulIdempotencyKey',
} as const;
