/** The verbs of this face: calls that start operations, tools/async/status, tools/async/result. */
import { ProtocolError, ProtocolErrorCode, type CallToolResult } from '@modelcontextprotocol/server';
import type { Engine } from '../../engine/index.js';
import { LonghaulError, type ErrorKind } from '../../operations/errors.js';
import type { OperationRecord } from '../../operations/record.js';
import type { Tool } from '../../operations/tool.js';
import { takeIdempotencyKey } from '../shared/idempotency-key.js';
import { renderFailure, renderRefusal, renderResult } from '../shared/results.js';
import {
  asyncStatus,
  noResult,
  ofOperation,
  renderError,
  renderStarted,
  renderStatus,
  type OfOperation,
  type StatusResult,
} from './render.js';
import { parseToken, type OperationField } from './schemas.js';

/** Who starts an operation. */
export interface OperationCaller {
  principal: string;
  /** What the operation is listed under; missing in an era without sessions. */
  session?: string;
  /** ID of the call: notifications/cancelled names it. */
  requestId: string | number;
  /** What notifications of its progress shall be marked with. */
  progressToken?: string | number;
}

/**
 * Starts a call as an operation under the client's token, or under one that is made. Wrong arguments of the tool are a
 * result that says so, as in any call, and nothing starts then. With a token and an idempotency key, the same call again
 * gives the operation that is there.
 *
 * @param field the call's `operation`, checked
 * @param started told of the token as soon as the operation is durable
 * @throws ProtocolError -32602 for a token that was used before, and for a token beside a key that is in use under another
 *   one; -32603
 */
export async function startOperation(
  engine: Engine,
  tool: Tool,
  given: Record<string, unknown>,
  { token, keepAlive }: OperationField,
  { principal, ...caller }: OperationCaller,
  started: (token: string) => void,
): Promise<CallToolResult> {
  let record: OperationRecord;
  try {
    const { args, idempotencyKey } = takeIdempotencyKey(given);
    if (token !== undefined && idempotencyKey !== undefined)
      await assertKeyIsFree(engine, principal, tool, idempotencyKey, token);
    record = await engine.start(principal, tool, args, {
      ...caller,
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      ...(token === undefined ? {} : { token, isTokenNew: true }),
      ...(keepAlive === undefined ? {} : { keepAliveSeconds: keepAlive }),
    });
  } catch (error) {
    const ofArguments = token === undefined ? [...OF_ARGUMENTS, ...OF_KEY] : OF_ARGUMENTS;
    if (error instanceof LonghaulError && ofArguments.includes(error.kind)) return renderRefusal(error);
    throw renderError(error);
  }
  started(record.token);
  return renderStarted(record, tool);
}

/** Errors of the arguments, and those of an idempotency key that no token of the client's own stands beside. */
const OF_ARGUMENTS: readonly ErrorKind[] = ['invalid_arguments', 'too_large'];
const OF_KEY: readonly ErrorKind[] = ['conflict', 'expired'];

/**
 * Refuses a key that has started an operation under another token. The operation is looked up in Temporal's lists, which
 * lag: of calls within about a second of each other, with one key and several tokens, each starts an operation.
 *
 * @throws ProtocolError -32602 that names the operation
 */
async function assertKeyIsFree(
  engine: Engine,
  principal: string,
  { name }: Tool,
  idempotencyKey: string,
  token: string,
): Promise<void> {
  const { searchAttributes } = await engine.temporal.facts();
  if (!searchAttributes) return;
  const { operations } = await engine.list(principal, { tool: name, idempotencyKey });
  for (const { token: other } of operations.filter((one) => one.token !== token)) {
    const isThere = await engine.read(principal, other).then(
      () => true,
      () => false,
    );
    if (isThere)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `arguments.idempotency_key: in use by the operation ${other}. Ask for its status with tools/async/status, or choose a new key`,
        { kind: 'conflict', retryable: false, token: other },
      );
  }
}

/**
 * tools/async/status.
 *
 * @param show brings the open questions of a record to the person
 * @throws ProtocolError -32602 for an unknown token or another principal's, -32603
 */
export async function operationStatus(
  engine: Engine,
  principal: string,
  params: unknown,
  show?: (record: OperationRecord) => Promise<void>,
): Promise<StatusResult> {
  const token = parseToken(params);
  let record: OperationRecord;
  try {
    record = await engine.read(principal, token);
  } catch (error) {
    if (error instanceof LonghaulError && error.kind !== 'internal') throw renderError(error);
    // It is there, but what it has come to can't be read.
    return {
      status: 'unknown',
      statusMessage: `the operation can't be read: ${(error as Error).message}`,
      ...ofOperation(token),
    };
  }
  const status = renderStatus(record);
  if (status.status === 'input_required') await show?.(record);
  return status;
}

/**
 * tools/async/result: what the call would have given, also of work that failed; again and again until it expires.
 *
 * @param asResult the result as the client's version has it. Default: unchanged
 * @throws ProtocolError -32602 for an operation that has no result, or none any more; -32603
 */
export async function operationResult(
  engine: Engine,
  principal: string,
  params: unknown,
  asResult: (result: CallToolResult) => CallToolResult = (result) => result,
): Promise<{ result: CallToolResult } & OfOperation> {
  const token = parseToken(params);
  let record: OperationRecord;
  try {
    record = await engine.read(principal, token);
  } catch (error) {
    throw renderError(error);
  }
  const status = asyncStatus(record);
  if (record.status === 'expired' || (status !== 'completed' && status !== 'failed')) throw noResult(record);
  const result =
    status === 'completed' ? renderResult(record, engine.tools.get(record.tool)) : renderFailure(record);
  const associated = ofOperation(token);
  return { result: { ...asResult(result), ...associated }, ...associated };
}
