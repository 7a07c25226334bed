/** Calling long tools without tasks: start, and wait if asked to. Whoever doesn't wait looks again with the operation tools. */
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

/**
 * Calls a tool. What is wrong with the call is a result that says so, and nothing starts then.
 *
 * @param given the call's arguments, with those that belong to the call itself
 */
export function callPlainly(
  engine: Engine,
  tool: Tool,
  given: Record<string, unknown>,
  caller: Caller,
): Promise<PlainOutcome> {
  return orRefusal(async () => {
    const { options, args } = optionsOf(tool, given);
    const { idempotencyKey, wait } = options;
    const record = await engine.start(caller.principal, tool, args, {
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      ...(caller.session === undefined ? {} : { session: caller.session }),
    });
    if (!wait) return renderEnvelope(record, { tool, isOutcome: true });
    return waitPlainly(engine, tool, record, options.timeoutSeconds, caller);
  });
}

/**
 * Goes on with a call that was ended by a question: waits for the operation that it started, and starts none.
 *
 * @param given the arguments, as the first time
 */
export function resumeWait(
  engine: Engine,
  tool: Tool,
  token: string,
  given: Record<string, unknown>,
  caller: Caller,
): Promise<PlainOutcome> {
  return orRefusal(async () => {
    const { options } = optionsOf(tool, given);
    const record = await engine.read(caller.principal, token);
    return waitPlainly(engine, tool, record, options.timeoutSeconds, caller);
  });
}

/** Short tools have no say in whether a call waits: every call of them does. */
function optionsOf(tool: Tool, given: Record<string, unknown>): ReturnType<typeof takeOptions> {
  if (tool.taskSupport !== 'forbidden') return takeOptions(tool, given);
  const { args, ...key } = takeIdempotencyKey(given);
  return { options: { wait: true, timeoutSeconds: tool.timeoutSeconds, ...key }, args };
}

async function waitPlainly(
  engine: Engine,
  tool: Tool,
  record: OperationRecord,
  timeoutSeconds: number,
  caller: Caller,
): Promise<PlainOutcome> {
  const waited = await waitFor(engine, record, timeoutSeconds, caller);
  if (waited.why === 'question' && caller.questions?.kind === 'result') return { question: waited.record };
  if (tool.taskSupport === 'forbidden') return renderShort(waited, tool);
  return renderWaited({ ...waited, record: await withKnownParts(engine, waited, tool) }, tool);
}

/** What was read stands when the parts can't be. */
async function withKnownParts(engine: Engine, { record, why }: Waited, tool: Tool): Promise<OperationRecord> {
  return withParts(engine, record, tool, why).catch(() => record);
}

/** The end of the budget is no error: nothing has failed, and `error_kind` says what a program needs to know. */
function renderWaited({ record, why }: Waited, tool: Tool): CallToolResult {
  return renderEnvelope(record, { tool, isOutcome: true, why });
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

async function orRefusal(call: () => Promise<PlainOutcome>): Promise<PlainOutcome> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof LonghaulError) return renderRefusal(error);
    throw error;
  }
}
