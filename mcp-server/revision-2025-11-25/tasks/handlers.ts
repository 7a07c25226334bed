/** Task handlers: calls that become tasks, tasks/get, tasks/result, tasks/list, tasks/cancel. */
import { setTimeout as delay } from 'node:timers/promises';
import {
  ProtocolError,
  ProtocolErrorCode,
  RELATED_TASK_META_KEY,
  type CallToolResult,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Guard } from '../../guard.js';
import { humanDuration } from '../../../operations/tool/budgets.js';
import { isKind, LonghaulError } from '../../../operations/errors.js';
import { operationMeta } from '../../../operations/wire/meta-keys.js';
import { isTerminal, type OperationRecord } from '../../../operations/record.js';
import type { Tool } from '../../../operations/tool/index.js';
import type { CallContext } from '../../call/call-context.js';
import { RETRY_AFTER_SECONDS, serverStopping } from '../../shutdown/index.js';
import { renderEnvelope } from '../../plain/envelope/index.js';
import { measureWait } from '../../call/budget.js';
import { takeIdempotencyKey } from '../../call/idempotency-key.js';
import { parseParams } from '../../call/params.js';
import { invalidParams } from '../../call/protocol-error.js';
import { isTerminalTask, renderTask, type RenderContext, type Task } from './render.js';
import type { Follower, Send } from '../../sessions/session-notifier.js';

const taskId = z.string().min(1).max(1000);

export const taskParams = z.looseObject({ taskId });

export const listParams = z.looseObject({ cursor: z.string().optional() }).default({});

/** The field that makes a call a task; ttl in milliseconds. */
const taskField = z.looseObject({ ttl: z.number().min(0).optional() });

/** A plain call's arguments about waiting. For a task, use tasks/result. */
const waitArguments = z.looseObject({
  wait: z.unknown().optional(),
  timeout: z.unknown().optional(),
});

/** Text for the model while the task runs (specs: "Creating Tasks", note). */
const IMMEDIATE_RESPONSE_META_KEY = 'io.modelcontextprotocol/model-immediate-response';
/** How long a cancel may take to become visible, in milliseconds. */
const CANCEL_LIMIT_MS = 10_000;
const CANCEL_POLL_MS = 50;
const PAGE_TASKS = 20;

export interface CreateTaskResult {
  task: Task;
  _meta: Record<string, unknown>;
}

/**
 * Starts a call as a task. Ignores the arguments `wait` and `timeout`.
 *
 * @param options.field the request's `task`; its ttl is a hint for how long to keep the result
 * @param options.session scope that lists the task
 * @throws LonghaulError as {@link Engine.start}, and as {@link takeIdempotencyKey}
 * @throws ProtocolError -32602 for a malformed `task`
 */
export async function startTask(
  engine: Guard,
  tool: Tool,
  args: Record<string, unknown>,
  { field, ...options }: { field: unknown; session: string; progressToken: string | number | undefined },
  context: RenderContext,
): Promise<CreateTaskResult> {
  const { ttl } = parseParams(taskField, field, 'params.task');
  const { wait: _wait, timeout: _timeout, ...rest } = parseParams(waitArguments, args, 'arguments');
  const { idempotencyKey, args: own } = takeIdempotencyKey(rest);
  const record = await engine.start(tool, own, {
    ...options,
    idempotencyKey,
    keepAliveSeconds: ttl === undefined ? undefined : ttl / 1000,
  });
  const { token, estimateSeconds } = record;
  const estimate =
    estimateSeconds === undefined ? '' : ` It usually takes about ${humanDuration(estimateSeconds)}.`;
  const text = `${tool.title} runs as the task ${token}.${estimate} Its result comes later; continue with other work.`;
  return {
    task: renderTask(record, context),
    _meta: {
      [RELATED_TASK_META_KEY]: { taskId: token },
      [IMMEDIATE_RESPONSE_META_KEY]: text,
      ...operationMeta(record),
    },
  };
}

export async function getTask(engine: Guard, taskId: string, session: RenderContext): Promise<Task> {
  const record = await engine.read(taskId);
  return renderTask(record, session);
}

/**
 * Waits for a task's end and returns the result of its call (specs: 2025-11-25 basic/utilities/tasks, "Result Retrieval"). Sends
 * questions and progress to the caller meanwhile.
 *
 * @returns undefined if the caller has disconnected
 * @throws ProtocolError the JSON-RPC error that the tool ended with; -32603 `server_stopping` at a shutdown
 */
export function taskResult(
  engine: Guard,
  taskId: string,
  callContext: CallContext,
  context: RenderContext,
): Promise<CallToolResult | undefined> {
  const wait = () => waitForResult(engine, taskId, callContext, context);
  return measureWait(wait, () => callContext.signal.aborted);
}

async function waitForResult(
  engine: Guard,
  taskId: string,
  callContext: CallContext,
  context: RenderContext,
): Promise<CallToolResult | undefined> {
  const { signal, shutdown, onProgress, questions } = callContext;
  let last: OperationRecord | undefined;
  for await (const record of engine.watch(taskId, {
    signal: AbortSignal.any([signal, shutdown.signal]),
    progress: onProgress !== undefined,
    onlyEnd: !onProgress && questions?.kind !== 'stream',
  })) {
    last = record;
    // A cancelled task is terminal at once, but has its partial result only once its work has ended.
    if (isTerminalTask(renderTask(record, context))) continue;
    if (record.progress && record.hasProgressed) await onProgress?.(record.progress);
    if (questions?.kind === 'stream') await questions.show(record);
  }
  if (signal.aborted) return undefined;
  if (shutdown.hasBegun && !isTerminal(last?.status ?? 'working')) throw stillOpen(taskId, last, context);
  if (!last) return undefined;
  if (last.error?.kind === 'protocol' && last.cancelRequestedAt === undefined)
    throw new ProtocolError(last.error.code ?? ProtocolErrorCode.InternalError, last.error.message);
  // As a plain call would return it.
  const result = renderEnvelope(last, { tool: engine.tools.get(last.tool), isOutcome: true });
  return { ...result, _meta: { ...result._meta, [RELATED_TASK_META_KEY]: { taskId } } };
}

/** For an open task, `tasks/result` can only answer with an error (specs: "Result Retrieval"). */
function stillOpen(taskId: string, last: OperationRecord | undefined, context: RenderContext): ProtocolError {
  const task = last && renderTask(last, context);
  return serverStopping(
    `The task continues${task ? ` (${task.status})` : ''}: call tasks/get or tasks/result again with the same taskId, in ${RETRY_AFTER_SECONDS} s.`,
    { taskId, ...(task ? { task } : {}) },
  );
}

/** Resolves once `cancelled` (specs: "Task Cancellation"). @throws ProtocolError -32602 for a task in a terminal status */
export async function cancelTask(engine: Guard, taskId: string, session: RenderContext): Promise<Task> {
  const before = await getTask(engine, taskId, session);
  if (isTerminalTask(before)) throw alreadyOver(before);
  await engine.cancel(taskId);
  const deadlineMs = performance.now() + CANCEL_LIMIT_MS;
  for (;;) {
    const task = await getTask(engine, taskId, session);
    if (task.status === 'cancelled') return task;
    if (isTerminalTask(task)) throw alreadyOver(task);
    if (performance.now() > deadlineMs)
      throw new LonghaulError('unavailable', 'the cancel was sent but is not visible yet; try again shortly');
    await delay(CANCEL_POLL_MS);
  }
}

function alreadyOver({ status }: Task): ProtocolError {
  return invalidParams(`Cannot cancel task: already in terminal status '${status}'`);
}

/** The principal's tasks, latest first (specs: "Task Listing"). */
export async function listTasks(
  engine: Guard,
  cursor: string | undefined,
  session: RenderContext,
): Promise<{ tasks: Task[]; nextCursor?: string }> {
  const filter = { limit: PAGE_TASKS, cursor };
  const { operations, nextCursor } = await engine.list(filter);
  const tasks = await Promise.all(
    operations.map(({ token }) => getTask(engine, token, session).catch(undefinedIfGone)),
  );
  return { tasks: tasks.filter((task) => task !== undefined), nextCursor };
}

/** Lists lag: a listed operation may have been purged. */
function undefinedIfGone(error: unknown): undefined {
  if (error instanceof ProtocolError || isKind(error, 'not_found')) return undefined;
  throw error;
}

/** Sends a listener the progress and status of one task until it has ended. */
export function followTask(send: Send, context: RenderContext): Follower {
  let sent = '';
  return {
    async notify(record) {
      const task = renderTask(record, context);
      const { progress, progressToken, hasProgressed } = record;
      const isOver = isTerminalTask(task);
      if (!isOver && progressToken !== undefined && hasProgressed)
        await send({
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progressToken, ...progress },
        });
      const { lastUpdatedAt: _lastUpdatedAt, ...fields } = task;
      if (JSON.stringify(fields) !== sent)
        await send({ jsonrpc: '2.0', method: 'notifications/tasks/status', params: { ...task } });
      sent = JSON.stringify(fields);
      return isOver;
    },
  };
}
