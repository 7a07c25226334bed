/** Handlers of calls that start operations, tools/async/status and tools/async/result. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Guard } from '../guard.js';
import { LonghaulError, type ErrorKind } from '../../operations/errors.js';
import { type OperationRecord, isTerminal } from '../../operations/record.js';
import type { Tool } from '../../operations/tool/index.js';
import { takeIdempotencyKey } from '../call/idempotency-key.js';
import { renderFailure, renderRefusal, renderResult } from '../call/results.js';
import { invalidParams } from '../call/protocol-error.js';
import {
  asyncStatus,
  noResult,
  association,
  renderError,
  renderStarted,
  renderStatus,
  type Association,
  type StatusResult,
} from './render.js';
import { parseToken, type OperationField } from './schemas.js';
import type { Follower, Send } from '../sessions/session-notifier.js';

export interface OperationCaller {
  /** Scope that lists the operation. Missing in revisions without sessions. */
  session?: string;
  /** ID of the call, to which notifications/cancelled refers. */
  requestId: string | number;
  /** Token for the operation's progress notifications. */
  progressToken?: string | number;
}

/**
 * Starts a call as an operation under the client's token or a generated one. Invalid tool arguments give an error result, as in any
 * call, and start nothing.
 *
 * @param field the call's validated `operation`
 * @param started called with the token as soon as the operation is durable
 * @throws ProtocolError -32602 for a token that was used before, or that comes with an idempotency key; -32603
 */
export async function startOperation(
  engine: Guard,
  tool: Tool,
  given: Record<string, unknown>,
  { token, keepAlive }: OperationField,
  caller: OperationCaller,
  started: (token: string) => void,
): Promise<CallToolResult> {
  let record: OperationRecord;
  try {
    const { args, idempotencyKey } = takeIdempotencyKey(given);
    if (token !== undefined && idempotencyKey !== undefined)
      throw invalidParams(
        'params.operation.token: expected none in a call with an idempotency key, since either names the operation; leave one out',
      );
    record = await engine.start(tool, args, {
      ...caller,
      idempotencyKey,
      ...(token === undefined ? {} : { token, isTokenNew: true }),
      keepAliveSeconds: keepAlive,
    });
  } catch (error) {
    const resultKinds = token === undefined ? [...ARGUMENT_ERRORS, ...KEY_ERRORS] : ARGUMENT_ERRORS;
    if (error instanceof LonghaulError && resultKinds.includes(error.kind)) return renderRefusal(error);
    throw renderError(error);
  }
  started(record.token);
  return renderStarted(record, tool);
}

/** Errors rendered as results: about the arguments and, in calls without a client's token, about the idempotency key. */
const ARGUMENT_ERRORS: readonly ErrorKind[] = ['invalid_arguments', 'too_large'];
const KEY_ERRORS: readonly ErrorKind[] = ['conflict', 'expired'];

/**
 * tools/async/status.
 *
 * @param show shows a record's open questions to the user
 * @throws ProtocolError -32602 for an unknown token or another principal's, -32603
 */
export async function operationStatus(
  engine: Guard,
  params: unknown,
  show?: (record: OperationRecord) => Promise<void>,
): Promise<StatusResult> {
  const token = parseToken(params);
  let record: OperationRecord;
  try {
    record = await engine.read(token);
    const { status, resultProblem } = record;
    if (status === 'completed' && resultProblem?.retryable === false)
      return unknown(token, resultProblem.message);
  } catch (error) {
    if (error instanceof LonghaulError && error.kind !== 'internal') throw renderError(error);
    return unknown(token, (error as Error).message);
  }
  const status = renderStatus(record);
  if (status.status === 'input_required') await show?.(record);
  return status;
}

/** The status of an operation that exists but can't be read, or has lost its result. */
function unknown(token: string, why: string): StatusResult {
  return { status: 'unknown', statusMessage: `the operation can't be read: ${why}`, ...association(token) };
}

/**
 * tools/async/result: the result that the call would have returned, also for failed operations. Readable repeatedly until it
 * expires.
 *
 * @param asResult converts the result to the client's revision. Default: unchanged
 * @throws ProtocolError -32602 for an operation without a result, or with an expired one; -32603
 */
export async function operationResult(
  engine: Guard,
  params: unknown,
  asResult: (result: CallToolResult) => CallToolResult = (result) => result,
): Promise<{ result: CallToolResult } & Association> {
  const token = parseToken(params);
  try {
    const record = await engine.read(token);
    const status = asyncStatus(record);
    if (record.status === 'expired' || (status !== 'completed' && status !== 'failed'))
      throw noResult(record);
    const result =
      status === 'completed' ? renderResult(record, engine.tools.get(record.tool)) : renderFailure(record);
    const associated = association(token);
    return { result: { ...asResult(result), ...associated }, ...associated };
  } catch (error) {
    throw renderError(error);
  }
}

/** Sends a listener the progress of one operation until it has ended or is being cancelled. */
export function followOperation(send: Send): Follower {
  return {
    async notify(record) {
      const { token, status, cancelRequestedAt, progress, progressToken, hasProgressed } = record;
      if (isTerminal(status) || cancelRequestedAt !== undefined) return true;
      if (progressToken !== undefined && hasProgressed)
        await send({
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progressToken, ...progress, ...association(token) },
        });
      return false;
    },
  };
}
