/** Protocol types, with the fields that the commands use (specs: ext-tasks; 2026-07-28), and their conversion for printing. */
import {
  ANSWERS_META_KEY,
  ERROR_META_KEY,
  PROGRESS_META_KEY,
  STATUS_META_KEY,
  TEMPORAL_URL_META_KEY,
  TEXT_META_KEY,
  TRACE_META_KEY,
} from '../../operations/wire/meta-keys.js';
import {
  isTerminal,
  type AnsweredRequest,
  type ChildRecord,
  type ListedOperation as Listed,
  type OperationStatus,
} from '../../operations/record.js';
import type { JsonSchema } from '../../operations/tool/schema.js';
import type { TaskStatus } from '../../operations/status-names.js';

/** A question: an elicitation with a form, or another request with only `method` typed. */
export interface InputRequest {
  method: string;
  params?: { message?: string; mode?: string; requestedSchema?: JsonSchema };
}

/** The response to a question (specs: 2026-07-28 client/elicitation, "Response Actions"). */
export type InputResponse =
  { action: 'accept'; content: Record<string, unknown> } | { action: 'decline' } | { action: 'cancel' };

export interface ContentBlock {
  type: string;
  text?: string;
  uri?: string;
  name?: string;
  mimeType?: string;
  size?: number;
  data?: string;
  resource?: { uri: string; text?: string };
}

export interface ToolResult {
  content?: ContentBlock[];
  structuredContent?: unknown;
  isError?: boolean;
  _meta?: Record<string, unknown>;
}

/** A task of the protocol, with the fields that depend on its status. */
export interface ProtocolTask {
  taskId: string;
  status: TaskStatus;
  statusMessage?: string;
  createdAt: string;
  lastUpdatedAt: string;
  ttlMs: number | null;
  pollIntervalMs?: number;
  inputRequests?: Record<string, InputRequest>;
  result?: ToolResult;
  error?: { code: number; message: string };
  _meta?: Record<string, unknown>;
}

/** A task with the status of the operation's record, as the commands print it. See {@link asTask}. */
export interface Task extends Omit<ProtocolTask, 'status'> {
  status: OperationStatus;
}

/** Answer to a call: a task, a result, or questions before either. */
export type CallAnswer =
  | (ProtocolTask & { resultType: 'task' })
  | (ToolResult & { resultType: 'complete' })
  | { resultType: 'input_required'; inputRequests?: Record<string, InputRequest>; requestState?: string };

export interface ToolDeclaration {
  name: string;
  title?: string;
  description?: string;
  inputSchema: JsonSchema;
  outputSchema?: JsonSchema;
}

/** An operation in a list, with the fields of `operation_list`. */
export type ListedOperation = Omit<Listed, 'cancelRequestedAt' | 'keepAliveSeconds' | 'requestId'>;

export interface Child extends Omit<ChildRecord, 'artifacts'> {
  artifacts?: { name: string; uri: string; mimeType: string; bytes: number }[];
}

export interface OperationSteps {
  token: string;
  tool: string;
  status: OperationStatus;
  createdAt: string;
  closedAt?: string;
  children?: Child[];
  /** False: no worker answered, so children are unknown. */
  isLive: boolean;
}

/** A page of a log, from the view `logs` of `operation_get`. */
export interface LogAnswer {
  step: string;
  name?: string;
  lines: LogAnswerLine[];
  cursor?: string;
  is_at_end: boolean;
  is_complete: boolean;
}

export interface LogAnswerLine {
  number: number;
  text: string;
  is_continued?: true;
  is_unfinished?: true;
  line_bytes?: number;
}

/** Progress in numbers, Longhaul's extension of a task. */
export interface TaskProgress {
  progress?: number;
  total?: number;
  message?: string;
  stage?: string;
}

/** The task's progress, if the server sends it. */
export function progressOf(task: Task): TaskProgress {
  return (task._meta?.[PROGRESS_META_KEY] as TaskProgress | undefined) ?? {};
}

/** The task's answered questions, if the server sends them. */
export function answersOf(task: Task): AnsweredRequest[] {
  return (task._meta?.[ANSWERS_META_KEY] as AnsweredRequest[] | undefined) ?? [];
}

export function traceIdOf(task: Task): string | undefined {
  return task._meta?.[TRACE_META_KEY] as string | undefined;
}

/** Address of a failed run in Temporal's UI, if the server sends it. */
export function temporalUrlOf({ _meta }: Pick<Task, '_meta'>): string | undefined {
  return _meta?.[TEMPORAL_URL_META_KEY] as string | undefined;
}

/** Error kind of a result, if the server sends it. */
export function errorKindOf(result: ToolResult): string | undefined {
  return (result._meta?.[ERROR_META_KEY] as { kind?: string } | undefined)?.kind;
}

/** The status message, if it says more than the status. */
export function statusNote({ status, statusMessage }: Task): string | undefined {
  return statusMessage === status ? undefined : statusMessage;
}

export function isClosed({ status }: Task): boolean {
  return isTerminal(status);
}

/** A task without the fields of the response that carried it. */
export function asTask(answer: ProtocolTask & { resultType?: string }): Task {
  const { resultType: _resultType, _meta = {}, result, ...task } = answer;
  const { [STATUS_META_KEY]: _status, ...meta } = _meta;
  return {
    ...task,
    status: statusOf(answer),
    ...(result === undefined ? {} : { result: withPlainText(result) }),
    ...(Object.keys(meta).length ? { _meta: meta } : {}),
  };
}

/**
 * The record's status. Other vendors' servers report failed work as completed, with `isError` (specs: ext-tasks, "Task Execution
 * Errors").
 */
function statusOf({ status, result, _meta }: ProtocolTask): OperationStatus {
  const own = _meta?.[STATUS_META_KEY];
  if (typeof own === 'string') return own as OperationStatus;
  if (status === 'cancelled') return 'canceled';
  return status === 'completed' && result?.isError ? statusOfError(result) : status;
}

function statusOfError(result: ToolResult): OperationStatus {
  const kind = errorKindOf(result);
  return kind === 'timed_out' || kind === 'canceled' ? kind : 'failed';
}

/** The result with the text for people, if the server also sends one for models. */
export function withPlainText({ _meta = {}, ...result }: ToolResult): ToolResult {
  const { [TEXT_META_KEY]: text, ...meta } = _meta;
  const [first, ...others] = result.content ?? [];
  return {
    ...result,
    ...(typeof text === 'string' && first ? { content: [{ ...first, text }, ...others] } : {}),
    ...(Object.keys(meta).length ? { _meta: meta } : {}),
  };
}
