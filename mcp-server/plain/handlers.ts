/** Calling long tools without tasks: start, and wait if asked to. Callers that don't wait poll with the operation tools. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Engine } from '../../engine/index.js';
import { LonghaulError } from '../../operations/errors.js';
import type { OperationRecord } from '../../operations/record.js';
import type { Tool } from '../../operations/tool.js';
import type { Caller } from '../shared/caller.js';
import { SERVER_STOPPING } from '../lifecycle/shutdown.js';
import { renderEnvelope, withParts } from './envelope/index.js';
import { takeIdempotencyKey } from '../shared/idempotency-key.js';
import { errorMeta, renderFailure, renderRefusal, renderResult } from '../shared/results.js';
import { waitFor, type Waited } from './wait.js';
import { takeOptions } from './schemas.js';

/** The result of a call; or the operation whose question ends it, for callers whose calls can end so. */
export type PlainOutcome = CallToolResult | { question: OperationRecord };

/** An operation that a call has started, and how long the call waits for it. */
export interface StartedCall {
  record: OperationRecord;
  wait: boolean;
  timeoutSeconds: number;
}

/**
 * Calls a tool. A call with wrong arguments gets a result that says so, and starts nothing.
 *
 * @param given the call's arguments, with those that belong to the call itself
 */
export function callPlainTool(
  engine: Engine,
  tool: Tool,
  given: Record<string, unknown>,
  caller: Caller,
): Promise<PlainOutcome> {
  return withErrorResult(async () => {
    const { record, wait, timeoutSeconds } = await startCall(engine, tool, given, caller);
    return wait ? waitAndRender(engine, tool, record, timeoutSeconds, caller) : renderStarted(record, tool);
  });
}

/**
 * Starts the operation of a call.
 *
 * @throws LonghaulError as {@link Engine.start}; `invalid_arguments` for wrong options of the call
 */
export async function startCall(
  engine: Engine,
  tool: Tool,
  given: Record<string, unknown>,
  { principal, session }: Caller,
): Promise<StartedCall> {
  const { options, args } = optionsOf(tool, given);
  const { idempotencyKey, ...waiting } = options;
  const record = await engine.start(principal, tool, args, {
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    ...(session === undefined ? {} : { session }),
  });
  return { record, ...waiting };
}

/** The result of a call that doesn't wait. */
export function renderStarted(record: OperationRecord, tool: Tool): CallToolResult {
  return renderEnvelope(record, { tool, isOutcome: true });
}

/** Continues the wait of a call that was ended by a question or a broken stream; starts nothing. */
export function resumeWait(
  engine: Engine,
  tool: Tool,
  token: string,
  timeoutSeconds: number,
  caller: Caller,
): Promise<PlainOutcome> {
  return withErrorResult(async () => {
    const record = await engine.read(caller.principal, token);
    return waitAndRender(engine, tool, record, timeoutSeconds, caller);
  });
}

/** Calls of short tools always wait. */
export function optionsOf(tool: Tool, given: Record<string, unknown>): ReturnType<typeof takeOptions> {
  if (tool.taskSupport !== 'forbidden') return takeOptions(tool, given);
  const { args, ...key } = takeIdempotencyKey(given);
  return { options: { wait: true, timeoutSeconds: tool.timeoutSeconds, ...key }, args };
}

/** Waits for an operation, and renders what the wait has come to. */
export async function waitAndRender(
  engine: Engine,
  tool: Tool,
  record: OperationRecord,
  timeoutSeconds: number,
  caller: Caller,
): Promise<PlainOutcome> {
  const waited = await waitFor(engine, record, timeoutSeconds, caller);
  if (waited.why === 'question' && caller.questions?.kind === 'result') return { question: waited.record };
  if (tool.taskSupport === 'forbidden') return renderShort(waited, tool);
  // The end of the budget is no error: nothing has failed, and `error_kind` says what a program needs to know.
  return renderEnvelope(await withPartsIfAvailable(engine, waited, tool), {
    tool,
    isOutcome: true,
    why: waited.why,
  });
}

/** The record with its parts; as it was read when they can't be. */
async function withPartsIfAvailable(
  engine: Engine,
  { record, why }: Waited,
  tool: Tool,
): Promise<OperationRecord> {
  return withParts(engine, record, tool, why).catch(() => record);
}

/** Short tools publish their own output schema, so that nothing but their result fits. */
function renderShort({ record, why }: Waited, tool: Tool): CallToolResult {
  if (record.status === 'completed') return renderResult(record, tool);
  if (record.error) return renderFailure(record);
  const { content } = renderEnvelope(record, { tool, why });
  return {
    content,
    isError: true,
    ...(why === 'stopping' ? { _meta: errorMeta(SERVER_STOPPING, true) } : {}),
  };
}

/** The result of a call, or its refusal. */
export async function withErrorResult<T>(call: () => Promise<T>): Promise<T | CallToolResult> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof LonghaulError) return renderRefusal(error);
    throw error;
  }
}
