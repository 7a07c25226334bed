/**
 * The contract between the engine and the workflow runtime: typed queries, updates and signals, and the shapes of memos.
 * docs/runtime-contract publishes it for workers in other languages: change that specification and its schemas with this file.
 */
import { defineQuery, defineSignal, defineUpdate } from '../tool/definitions.js';
import type { OperationError } from '../errors.js';
import type { ToolQueue } from '../tool/queue.js';
import type { Answer, Answerer, InputRequest } from '../record.js';
import type { KeptAnswer, OperationState } from './state.js';

/** Complete state of the operation. A closed one has it in its memo. */
export const OPERATION_QUERY = defineQuery<OperationState>('operation');
/** Answers an input request; rejects an answer that doesn't match the schema. */
export const PROVIDE_INPUT_UPDATE = defineUpdate<void, [ProvidedInput]>('provide_input');
/** Answers an input request while no worker can take the update. */
export const PROVIDE_INPUT_SIGNAL = defineSignal<[ProvidedInput]>('provide_input');
/** Cancels like Temporal's own cancel request, for clients that can only signal. */
export const CANCEL_OPERATION_SIGNAL = defineSignal<[reason?: string]>('cancel_operation');
export const PART_NOTICE_SIGNAL = defineSignal<[PartNotice]>('longhaul_part');

/** Local activity of every worker: requests the cancellation of its own workflow. Argument: a reason. */
export const REQUEST_CANCEL_ACTIVITY = 'longhaul_request_cancel';
/** Local activity of every worker: reads the progress in a closed child workflow's memo. Argument: its workflow ID. */
export const CHILD_PROGRESS_ACTIVITY = 'longhaul_child_progress';

/** Local activity of every worker: verifies an answer's signature. Argument: an {@link AnswerProof}; result: a problem, or null. */
export const VERIFY_ANSWER_ACTIVITY = 'longhaul_verify_answer';

/** Local activity of every worker: keeps a result that breaks its tool's output as an artifact. Argument: the result; result: the artifact. */
export const KEEP_RESULT_ACTIVITY = 'longhaul_keep_result';

/** Local activity: checks once whether a schedule's workflow may work. Argument: {@link ScheduledStart}; result: a problem, or null. */
export const VERIFY_SCHEDULED_START_ACTIVITY = 'longhaul_verify_scheduled_start';

/** Header of activities of an operation and its parts: the operation's token. The worker wraps activities with it. */
export const OPERATION_HEADER = 'longhaul';
/** Header of parts' activities: the operation's workflow ID, under which storage keeps artifacts. */
export const OPERATION_ID_HEADER = 'longhaul_workflow_id';

/** Header of activities of an operation and its parts, for their log lines: a {@link LogContext}. */
export const LOG_CONTEXT_HEADER = 'longhaul_log';

/**
 * Header of Temporal's own OpenTelemetry interceptors, in all SDKs: the trace's context, a `TraceCarrier`. The client sets it on starts,
 * updates and signals. The runtime passes the start's header to activities, child workflows and later runs, unread.
 */
export const TRACE_HEADER = '_tracer-data';

/**
 * Header of a start: JSON Schema of the result, as the tool declared it then. The runtime checks the result before the run closes, and
 * readers find the schema there once the tool has another. Missing for schemas over 64 KiB, and in starts that no server made.
 */
export const OUTPUT_HEADER = 'longhaul_output';

/** Header of signals that answer external workflows: an {@link AnswerHeader}. */
export const ANSWER_HEADER = 'longhaul_answer';

/** Header of activities of an operation, its parts and its other child workflows: the signature of the operation's start. */
export const SIGNATURE_HEADER = 'longhaul_signature';

/** Failure type of a workflow or activity with an unsigned start, or one signed for something else. */
export const UNSIGNED = 'longhaul.unsigned';
/** Failure type of an activity of an operation that was signed with another key than this worker's. */
export const OTHER_KEY = 'longhaul.other_key';

/** Memo key of the {@link StartMemo}. */
export const START_MEMO = 'longhaul';

/** Metadata key of payloads that the worker always stores: history gets a {@link StoredClaim} instead. Holds the memo key, as JSON. */
export const STORED_METADATA = 'longhaul-stored';

/** Metadata key of a completed operation's result payload: its final progress, as JSON. */
export const PROGRESS_METADATA = 'longhaul-progress';

/** The same for activities that ran on when the workflow returned: their names, as a JSON text. */
export const UNAWAITED_METADATA = 'longhaul-unawaited';

/** Memo key of the {@link PartMemo} of a part: a child workflow of an operation, at any depth. */
export const PART_MEMO = 'longhaul_part';

/** Memo key of the {@link OriginMemo}. */
export const ORIGIN_MEMO = 'longhaul_origin';

/** Principal of all callers without authentication. */
export const ANONYMOUS = 'anonymous';

/** Token of an operation, from its workflow ID: the same for the anonymous principal, or else the text after the principal's tag. */
export function tokenOf(principal: string, workflowId: string): string {
  return principal === ANONYMOUS ? workflowId : workflowId.slice(workflowId.indexOf('.') + 1);
}

/** Another operation's token, as the record's reader knows it: the workflow ID, if that reader is another principal. */
export function tokenBeside(
  { token, principal }: { token: string; principal: string },
  workflowId: string,
): string {
  const tag = workflowId.slice(0, workflowId.indexOf('.') + 1);
  return principal !== ANONYMOUS && token.startsWith(tag) ? workflowId : tokenOf(principal, workflowId);
}

/** Memo that marks a workflow as an operation. The engine writes it once, with the start. */
export interface StartMemo {
  version: 1;
  tool: string;
  principal: string;
  /** HMAC of tool and arguments: distinguishes a repeated start from another one under the same token. */
  argumentsDigest: string;
  deadlineSeconds: number;
  /** Budget for ending the operation after the deadline. Default: 5 minutes; external workflows have none. */
  cleanupSeconds?: number;
  /** Time for people to answer; 0 if it asks nothing. Missing for external workflows. */
  inputWaitSeconds?: number;
  keepAliveSeconds: number;
  estimateSeconds?: number;
  size?: number;
  variant?: string;
  priority?: number;
  /** The tool's queue; missing if its operations run at once. */
  queue?: ToolQueue;
  /** Whether this Temporal has Longhaul's search attributes. Setting an unknown one would block the workflow. */
  searchAttributes: boolean;
  attempt: number;
  resumedFrom?: string;
  /** Principals that changed arguments in a resume, of this operation or the ones that it continues. */
  changedBy?: string[];
  session?: string;
  /** Progress token for notifications while it is open. */
  progressToken?: string | number;
  /** ID of the call that started it, if cancelling the call cancels the work (SEP-1391). */
  requestId?: string | number;
  /** W3C traceparent of the request that started it; missing without a trace. */
  traceparent?: string;
  /** ID of the request that started it, for log lines. */
  startRequestId?: string;
  /** Random, or from the idempotency key: distinguishes a repeated start from another one if the token must be new. */
  startId?: string;
  /** Start of the operation, ISO 8601, by Temporal's clock. Missing: the start of its run, which continues no other. */
  createdAt?: string;
  /** Whether unsigned answers are accepted. Default: true. */
  operatorAnswers?: false;
  /** Signature of the workflow's type, ID and input, and this memo; missing in starts that no Longhaul server made. */
  signature?: string;
  /** `none`: workers without Longhaul's runtime run the workflow. Missing: Longhaul's own. */
  runtime?: 'none';
  /**
   * Set if the result has to be a value that JSON holds, and with a digest also one that fits the output of that digest. Missing in
   * starts of earlier releases, which end as they did.
   */
  output?: DeclaredOutput;
  /** Whether its token is sealed, because the token can't give its workflow ID or namespace. */
  hasSealedToken?: true;
}

/** The output that a tool declared when its operation started. */
export interface DeclaredOutput {
  /** Digest of its JSON Schema; missing if it declared none. */
  digest?: string;
}

/** Memo that marks a child workflow as a part. The parent's workflow writes it once, with the start. */
export interface PartMemo {
  version: 1;
  operationId: string;
  token: string;
  tool: string;
  /** The operation's budgets. */
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
  signature?: string;
  /** As in the start memo. */
  output?: DeclaredOutput;
  /** Names from the operation's part to this one, with `/`; missing in the operation's own parts. */
  path?: string;
  name: string;
}

/** Memo of a child workflow that is no part, since it may outlive its operation. */
export interface OriginMemo {
  operationId: string;
  signature: string;
}

/** Fields of log lines that identify the operation, besides its token. */
export interface LogContext {
  tool?: string;
  principal?: string;
  requestId?: string;
  /** Name of the logging part; missing in the operation's own workflow. */
  part?: string;
  /** When the operation was started, in epoch milliseconds; only until it reports progress. */
  startedMs?: number;
}

/** State of an open part for its parent; each notice replaces the previous one. */
export interface PartNotice {
  workflowId: string;
  /** Open input requests of the part and its own parts, by its own keys. */
  inputRequests: Record<string, InputRequest>;
  /** Input requests that a default has answered, if any. */
  defaults?: KeptAnswer[];
  /** Forwarded answers refused since the last notice: their question was no longer open. */
  refused?: { key: string; answerId: string; reason: string }[];
  /** Whether it waits only for people. */
  onlyPeopleAwaited: boolean;
}

/** Payload of {@link PROVIDE_INPUT_UPDATE} and {@link PROVIDE_INPUT_SIGNAL}. */
export interface ProvidedInput {
  key: string;
  /**
   * Unique per answer: one sent twice (as an update, then a signal) counts once. Servers derive it with a key, so nobody else can use it
   * first for another answer. 1 to 200 characters.
   */
  answerId: string;
  answer: Answer;
  /** Set if a part's parent forwards the answer. */
  isForwarded?: true;
  /** The answerer; missing for callers without authentication, and for operators. */
  by?: Answerer;
  /** Signature of the answer, with key, ID and answerer. */
  signature?: string;
}

/** Identifies an answer whose signal carries an external workflow's own arguments. */
export interface AnswerHeader extends Pick<ProvidedInput, 'key' | 'answerId'> {
  action: Answer['action'];
  by: Answerer;
  signature: string;
}

/** Argument of {@link VERIFY_ANSWER_ACTIVITY}. */
export interface AnswerProof {
  operationId: string;
  signature: string;
}

/** Argument of {@link VERIFY_SCHEDULED_START_ACTIVITY}. */
export interface ScheduledStart {
  signature: string;
  /** When Temporal started the run, in epoch milliseconds. */
  startedMs: number;
}

/** Details of the failure or cancellation that ends an operation's workflow. */
export interface ClosingDetails {
  longhaul: 'closing';
  error?: OperationError;
  partial?: unknown;
}

/** Search attributes, all of type Keyword. */
export const SEARCH_ATTRIBUTES = {
  principal: 'LonghaulPrincipal',
  tool: 'LonghaulTool',
  status: 'LonghaulStatus',
  session: 'LonghaulSession',
  idempotencyKey: 'LonghaulIdempotencyKey',
} as const;

/** The mailbox's workflow types, for the engine to recognize its runs. */
export const INBOX_WORKFLOW = 'mailbox_inbox';
export const DIRECTORY_WORKFLOW = 'mailbox_directory';
