/** Plain calls of long tools: start the operation, and wait if `wait` is true. Otherwise callers poll with the operation_* tools. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Guard } from '../guard.js';
import { LonghaulError } from '../../operations/errors.js';
import type { OperationRecord } from '../../operations/record.js';
import type { Tool } from '../../operations/tool/index.js';
import type { CallContext } from '../call/call-context.js';
import { SERVER_STOPPING } from '../shutdown/index.js';
import { renderEnvelope } from './envelope/index.js';
import { takeIdempotencyKey } from '../call/idempotency-key.js';
import { errorMeta, renderFailure, renderRefusal, renderResult } from '../call/results.js';
import { waitFor, type WaitResult } from './wait.js';
import { takeOptions } from './schemas.js';

/** A call's result; or the operation whose question ends it, for callers with `questions.kind` `result`. */
export type PlainOutcome = CallToolResult | { question: OperationRecord };

/**
 * Calls a tool. Wrong arguments give a result with `isError` and start nothing.
 *
 * @param given the tool's arguments and the call's own: `wait`, `timeout`, `idempotency_key`
 */
export function callPlainTool(
  engine: Guard,
  tool: Tool,
  given: Record<string, unknown>,
  callContext: CallContext,
): Promise<PlainOutcome> {
  return withErrorResult(async () => {
    const { options, args } = optionsOf(tool, given);
    const { idempotencyKey, wait, timeoutSeconds } = options;
    const { session } = callContext;
    const record = await engine.start(tool, args, { idempotencyKey, session });
    if (!wait) return renderEnvelope(record, { tool, isOutcome: true });
    callContext.onContinuation?.({ token: record.token, timeoutSeconds });
    return waitAndRender(engine, tool, record, timeoutSeconds, callContext);
  });
}

/** Resumes the wait of a call that a question or a broken stream has ended. Starts nothing. */
export function resumeWait(
  engine: Guard,
  tool: Tool,
  token: string,
  timeoutSeconds: number,
  callContext: CallContext,
): Promise<PlainOutcome> {
  return withErrorResult(async () => {
    const record = await engine.read(token);
    return waitAndRender(engine, tool, record, timeoutSeconds, callContext);
  });
}

/** Calls of short tools always wait. */
export function optionsOf(tool: Tool, given: Record<string, unknown>): ReturnType<typeof takeOptions> {
  if (tool.taskSupport !== 'forbidden') return takeOptions(tool, given);
  const { args, ...key } = takeIdempotencyKey(given);
  return { options: { wait: true, timeoutSeconds: tool.timeoutSeconds, ...key }, args };
}

async function waitAndRender(
  engine: Guard,
  tool: Tool,
  record: OperationRecord,
  timeoutSeconds: number,
  callContext: CallContext,
): Promise<PlainOutcome> {
  const waited = await waitFor(engine, record, timeoutSeconds, callContext);
  if (waited.reason === 'question' && callContext.questions?.kind === 'result')
    return { question: waited.record };
  if (tool.taskSupport === 'forbidden') return renderShort(waited, tool);
  // A wait that runs out isn't an error: nothing has failed, and `error_kind` gives programs the reason.
  return renderEnvelope(waited.record, { tool, isOutcome: true, reason: waited.reason });
}

/** A short tool publishes its own output schema, which only its result matches, so everything else is an error. */
function renderShort({ record, reason }: WaitResult, tool: Tool): CallToolResult {
  if (record.status === 'completed') return renderResult(record, tool);
  if (record.error) return renderFailure(record);
  const { content } = renderEnvelope(record, { tool, reason });
  return {
    content,
    isError: true,
    ...(reason === 'stopping' ? { _meta: errorMeta(SERVER_STOPPING, true) } : {}),
  };
}

/** Turns a LonghaulError into a result with `isError`. */
export async function withErrorResult<T>(call: () => Promise<T>): Promise<T | CallToolResult> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof LonghaulError) return renderRefusal(error);
    throw error;
  }
}
