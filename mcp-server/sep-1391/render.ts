/** The record as this face's statuses, results and errors (SEP-1391). */
import { ProtocolError, ProtocolErrorCode, type CallToolResult } from '@modelcontextprotocol/server';
import { humanDuration, pollIntervalMs } from '../../operations/budgets.js';
import { LonghaulError } from '../../operations/errors.js';
import type { InputRequest, OperationRecord, Progress } from '../../operations/record.js';
import { STATUS_NAMES, statusOnceCanceled, type AsyncStatus } from '../../operations/status-names.js';
import type { Tool } from '../../operations/tool.js';
import { questionText } from '../shared/elicitation.js';
import { asProtocolError } from '../shared/protocol-error.js';

export const EXPIRED = 'Operation has expired';
const NOT_FOUND = 'Operation not found';

/** What every message that belongs to an operation carries. */
export interface Association {
  _operation: { token: string };
}

/** GetOperationStatusResult, with what a client can show beside it. */
export interface StatusResult extends Association {
  status: AsyncStatus;
  /** Why it failed. */
  error?: string;
  /** One short line for people. */
  statusMessage?: string;
  progress?: Progress;
  /** What is asked: key -> question. */
  inputRequests?: Record<string, Pick<InputRequest, 'message' | 'schema'>>;
}

export function association(token: string): Association {
  return { _operation: { token } };
}

/** The fields that associate a message of another protocol with its operation; none for work that is no operation here. */
export function associationOf(record: OperationRecord): Association | Record<string, never> {
  return isOperation(record) ? association(record.token) : {};
}

/** Was it started by a call of this protocol? Its messages carry the token then. */
export function isOperation({ requestId }: OperationRecord): boolean {
  return requestId !== undefined;
}

/** From the moment a cancel is taken the operation is canceled for good, whatever the work still does. */
export function asyncStatus(record: OperationRecord): AsyncStatus {
  return STATUS_NAMES[statusOnceCanceled(record)].sep1391;
}

/** The immediate reply to the call. Its text is for the model, which goes on with it. */
export function renderStarted(record: OperationRecord, tool: Tool): CallToolResult & Association {
  const { token, keepAliveSeconds, estimateSeconds } = record;
  const takes =
    estimateSeconds === undefined ? '' : `It usually takes about ${humanDuration(estimateSeconds)}. `;
  const text =
    `${tool.title} has started and goes on by itself, whether or not anybody waits, as the operation ${token}. ` +
    `${takes}Its result comes later: go on with other work, and don't start it again.`;
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
    ...(statusMessage === undefined ? {} : { statusMessage }),
    ...(progress === undefined ? {} : { progress }),
    ...(isAsking
      ? {
          inputRequests: Object.fromEntries(
            Object.entries(inputRequests).map(([key, { message, schema }]) => [key, { message, schema }]),
          ),
        }
      : {}),
    ...association(token),
  };
}

function whyFailed({ status, error }: OperationRecord): string {
  return status === 'expired' ? EXPIRED : (error?.message ?? 'failed');
}

function howToAnswer({ token, inputRequests }: OperationRecord): string {
  const [key, asked] = Object.entries(inputRequests)[0] ?? [];
  return questionText(token, key, asked?.message ?? '');
}

/** Why tools/async/result has no result, with the status in words and as data. */
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

/** Errors of the engine's verbs as this face's errors (SEP-1391, "Error Handling"). */
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
      return new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        'params.operation.token: expected one that was never used, or was used by this same call with the same idempotency_key; got another. Choose a new one, or ask for its status with tools/async/status',
        data,
      );
    default:
      return asProtocolError(error);
  }
}

function retrievalError(why: string, data: object): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Failed to retrieve operation: ${why}`, data);
}
