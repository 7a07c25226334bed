/** Renders records as results with `success`, `data` and `messages`. A tool call's result is also a valid CallToolResult. */
import { ProtocolError, ProtocolErrorCode, type CallToolResult } from '@modelcontextprotocol/server';
import { humanDuration } from '../../operations/tool/budgets.js';
import type { LonghaulError } from '../../operations/errors.js';
import { withOperationMeta } from '../../operations/wire/meta-keys.js';
import { isTerminal, type OperationRecord } from '../../operations/record.js';
import { STATUS_NAMES, type TwoStageStatus } from '../../operations/status-names.js';
import type { Tool } from '../../operations/tool/index.js';
import { questionText } from '../call/elicitation.js';
import { renderFailure, renderRefusal, renderResult, resultLink } from '../call/results.js';
import { CANCEL_METHOD, POLL_METHOD } from './schemas.js';
import type { JsonSchema } from '../../operations/tool/schema.js';

export interface Question {
  key: string;
  message: string;
  schema: JsonSchema;
  /** ISO 8601; when the job continues without an answer. */
  expires_at?: string;
  /** Request that answers the question, once `content` is added to its arguments. */
  answer_with: {
    method: 'tools/call';
    params: { name: 'operation_answer'; arguments: { token: string; key: string } };
  };
}

/** Whether the job's questions can be answered. Not once it is being cancelled. */
export function isAsking({ status, cancelRequestedAt }: OperationRecord): boolean {
  return status === 'input_required' && cancelRequestedAt === undefined;
}

/** All open questions. Missing without any. */
export function questionsField(record: OperationRecord): { questions?: Question[] } {
  const { token, inputRequests } = record;
  const open = isAsking(record) ? Object.entries(inputRequests) : [];
  if (open.length === 0) return {};
  return {
    questions: open.map(([key, { message, schema, expiresAt }]) => ({
      key,
      message,
      schema,
      expires_at: expiresAt,
      answer_with: {
        method: 'tools/call',
        params: { name: 'operation_answer', arguments: { token, key } },
      },
    })),
  };
}

export interface Message {
  type: 'info' | 'error';
  text: string;
}

export interface Result {
  success: boolean;
  data: unknown;
  messages: Message[];
  job_id?: string;
  estimated_runtime_seconds?: number;
  _meta?: Record<string, unknown> | undefined;
}

function resultOf<Data>(success: boolean, data: Data, text: string): Result & { data: Data } {
  return { success, data, messages: [{ type: success ? 'info' : 'error', text }] };
}

/** First stage: the answer to tools/call. A repeated call may find its job complete. */
export function renderStarted(record: OperationRecord, tool: Tool): Result & CallToolResult {
  const polled = renderPolled(record, tool);
  const { progress: _progress, ...job } = polled.data;
  const { result } = job;
  const data = {
    ...job,
    keep_alive_seconds: record.keepAliveSeconds,
    poll_endpoint: POLL_METHOD,
    cancel_endpoint: CANCEL_METHOD,
  };
  const messages: Message[] = result ? polled.messages : [{ type: 'info', text: startedText(record, tool) }];
  return {
    ...polled,
    data,
    messages,
    content: result?.content ?? textOf(messages),
    structuredContent: { success: true, data, messages },
  };
}

interface PolledData extends Record<string, unknown> {
  job_id: string;
  status: TwoStageStatus;
  progress?: number;
  /** Missing without open questions. */
  questions?: Question[];
  /** True if the job is being cancelled, else missing. */
  cancel_requested?: true;
  result?: Result & CallToolResult;
}

/** The answer to tools/poll_result: the job's state, or its result. */
export function renderPolled(record: OperationRecord, tool: Tool | undefined): Result & { data: PolledData } {
  const job = jobFields(record);
  if (isTerminal(record.status)) {
    const result = renderJobResult(record, tool);
    return {
      success: true,
      data: { ...job, status: 'complete', result },
      messages: result.messages,
      ...job,
      ...withOperationMeta(record),
    };
  }
  const data: PolledData = {
    ...job,
    status: STATUS_NAMES[record.status].twoStage,
    progress: progressShare(record),
    ...questionsField(record),
    ...(record.cancelRequestedAt === undefined ? {} : { cancel_requested: true }),
  };
  return { ...resultOf(true, data, progressText(record)), ...job, ...withOperationMeta(record) };
}

/** The answer to tools/cancel_job. @param wasOpen whether the job was open when the cancel was requested */
export function renderCancelled(record: OperationRecord, wasOpen: boolean): Result {
  const job = jobFields(record);
  const { token } = record;
  const status = STATUS_NAMES[record.status].twoStage;
  if (!wasOpen && record.status !== 'canceled')
    return { ...resultOf(false, { ...job, status }, `Job already complete: ${token}`), ...job };
  const text = `Cancellation of job ${token} is requested. What was finished stays, and its result follows.`;
  return { ...resultOf(true, { ...job, status, cancel_requested: true }, text), ...job };
}

/** Second stage: the outcome of the job. */
export function renderJobResult(record: OperationRecord, tool: Tool | undefined): Result & CallToolResult {
  const { status, error, partial, temporalUrl } = record;
  const tookMs = Date.parse(record.closedAt ?? record.updatedAt) - Date.parse(record.createdAt);
  if (status === 'completed') {
    const text = `${record.tool} completed after ${humanDuration(tookMs / 1000)}.`;
    return {
      ...resultOf(true, dataOf(record), text),
      ...jobFields(record),
      ...renderResult(record, tool),
    };
  }
  const { kind = 'failed', message = status, retryable = false } = error ?? {};
  const data = {
    error: { kind, message, retryable, type: error?.type },
    partial,
    temporal_url: temporalUrl,
  };
  return { ...resultOf(false, data, message), ...jobFields(record), ...renderFailure(record) };
}

/** Error of a call that started nothing. */
export function renderRefused(error: LonghaulError): Result & CallToolResult {
  const { kind, message, retryable } = error;
  return { ...resultOf(false, { error: { kind, message, retryable } }, message), ...renderRefusal(error) };
}

/** The same for an unknown, foreign, purged or expired job. */
export function renderNotFound(jobId: string): Result {
  return resultOf(false, { job_id: jobId }, `Job not found: ${jobId}`);
}

/** Errors of the server, not of the job. */
export function renderError(error: LonghaulError): ProtocolError {
  const { kind, message, retryable } = error;
  return new ProtocolError(ProtocolErrorCode.InternalError, message, { kind, retryable });
}

/** Progress has four decimals, rounded down, so 1 means completed. */
const SHARE_STEPS = 10_000;

/** From 0 to 1; 0 while the total is unknown. */
export function progressShare({ progress }: OperationRecord): number {
  if (!progress?.total || progress.total <= 0) return 0;
  const share = Math.min(1, Math.max(0, progress.progress / progress.total));
  return Math.floor(share * SHARE_STEPS) / SHARE_STEPS;
}

/** One line about the job's state: its question, status message or stage. */
export function progressText(record: OperationRecord): string {
  const { status, statusMessage, stage, progress, inputRequests, token } = record;
  const [key, asked] = Object.entries(inputRequests)[0] ?? [];
  if (isAsking(record) && asked) {
    const [question] = asked.message.split('\n', 1);
    return questionText(token, key, question!);
  }
  return statusMessage ?? progress?.message ?? stage ?? status;
}

function startedText({ token, status, estimateSeconds }: OperationRecord, { title }: Tool): string {
  const estimate =
    estimateSeconds === undefined ? '' : ` Estimated runtime: ${humanDuration(estimateSeconds)}.`;
  return `${title} is ${STATUS_NAMES[status].twoStage} as job ${token}.${estimate} Its result follows; continue with other work.`;
}

function jobFields({ token, estimateSeconds }: OperationRecord) {
  return { job_id: token, estimated_runtime_seconds: estimateSeconds };
}

/** The result, or a link to a large one, as in `content`. */
function dataOf(record: OperationRecord): unknown {
  const link = resultLink(record);
  return link ? { result_uri: link.uri, bytes: link.size } : (record.result ?? null);
}

function textOf(messages: Message[]): CallToolResult['content'] {
  return messages.map(({ text }) => ({ type: 'text', text }));
}
