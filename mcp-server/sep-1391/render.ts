/** Renders records as statuses, results and errors of SEP-1391. */
import type { ProtocolError, CallToolResult } from '@modelcontextprotocol/server';
import { humanDuration, pollIntervalMs } from '../../operations/tool/budgets.js';
import { LonghaulError } from '../../operations/errors.js';
import { withOperationMeta } from '../../operations/wire/meta-keys.js';
import type { InputRequest, OperationRecord, Progress } from '../../operations/record.js';
import { STATUS_NAMES, statusOnceCanceled, type AsyncStatus } from '../../operations/status-names.js';
import type { Tool } from '../../operations/tool/index.js';
import { questionText } from '../call/elicitation.js';
import { asProtocolError, invalidParams } from '../call/protocol-error.js';

export const EXPIRED = 'Operation has expired';
const NOT_FOUND = 'Operation not found';

/** Field of every message that belongs to an operation. */
export interface Association {
  _operation: { token: string };
}

/** GetOperationStatusResult, with additional fields that a client can show. */
export interface StatusResult extends Association {
  status: AsyncStatus;
  error?: string;
  /** One short line for users. */
  statusMessage?: string;
  progress?: Progress;
  inputRequests?: Record<string, Pick<InputRequest, 'message' | 'schema'>>;
  _meta?: Record<string, string>;
}

export function association(token: string): Association {
  return { _operation: { token } };
}

/** Fields that link another protocol's message to its operation. Empty if this protocol didn't start it. */
export function associationOf(record: OperationRecord): Association | Record<string, never> {
  return isOperation(record) ? association(record.token) : {};
}

/** Whether a call of this protocol started the operation. Its messages then carry the token. */
export function isOperation({ requestId }: OperationRecord): boolean {
  return requestId !== undefined;
}

/** After a cancel request the operation is `canceled`, even while its work cleans up. */
export function asyncStatus(record: OperationRecord): AsyncStatus {
  return STATUS_NAMES[statusOnceCanceled(record)].sep1391;
}

/** The immediate reply to the call. Its text is for the model. */
export function renderStarted(record: OperationRecord, tool: Tool): CallToolResult & Association {
  const { token, keepAliveSeconds, estimateSeconds } = record;
  const takes =
    estimateSeconds === undefined ? '' : `It usually takes about ${humanDuration(estimateSeconds)}. `;
  const text =
    `${tool.title} has started as the operation ${token} and continues whether or not a client waits. ` +
    `${takes}Its result comes later: continue with other work, and don't start it again.`;
  return {
    content: [{ type: 'text', text }],
    operation: {
      token,
      keepAlive: keepAliveSeconds,
      pollFrequency: pollIntervalMs(estimateSeconds) / 1000,
      status: asyncStatus(record),
    },
    ...association(token),
  };
}

export function renderStatus(record: OperationRecord): StatusResult {
  const status = asyncStatus(record);
  const { token, progress, inputRequests } = record;
  const isAsking = status === 'input_required';
  const statusMessage = isAsking ? howToAnswer(record) : record.statusMessage;
  return {
    status,
    ...(status === 'failed' ? { error: whyFailed(record) } : {}),
    statusMessage,
    progress,
    ...(isAsking
      ? {
          inputRequests: Object.fromEntries(
            Object.entries(inputRequests).map(([key, { message, schema }]) => [key, { message, schema }]),
          ),
        }
      : {}),
    ...association(token),
    ...withOperationMeta(record),
  };
}

function whyFailed({ status, error }: OperationRecord): string {
  return status === 'expired' ? EXPIRED : (error?.message ?? 'failed');
}

function howToAnswer({ token, inputRequests }: OperationRecord): string {
  const [key, asked] = Object.entries(inputRequests)[0] ?? [];
  return questionText(token, key, asked?.message ?? '');
}

/** Error of tools/async/result for an operation without a result, with the status in the message and as data. */
export function noResult(record: OperationRecord): ProtocolError {
  const status = asyncStatus(record);
  const why =
    record.status === 'expired'
      ? EXPIRED
      : status === 'canceled'
        ? ['Operation is canceled', ...(record.closedAt ? [] : [record.statusMessage])].join('; ')
        : `Operation is ${status}, and has no result yet`;
  return retrievalError(why, { status });
}

/** Maps the engine's errors to protocol errors (SEP-1391, "Error Handling"). */
export function renderError(error: unknown): Error {
  if (!(error instanceof LonghaulError)) return error as Error;
  const { kind, retryable } = error;
  const data = { kind, retryable };
  switch (kind) {
    case 'not_found':
      return retrievalError(NOT_FOUND, data);
    case 'expired':
      return retrievalError(EXPIRED, data);
    case 'conflict':
      return invalidParams(
        'params.operation.token: expected one that was never used, or was used by this same call with the same idempotency_key; got another. Choose a new one, or ask for its status with tools/async/status',
        data,
      );
    default:
      return asProtocolError(error);
  }
}

function retrievalError(why: string, data: object): ProtocolError {
  return invalidParams(`Failed to retrieve operation: ${why}`, data);
}
