/** Renders records as tasks, and errors of task requests (specs: ext-tasks). */
import {
  MissingRequiredClientCapabilityError,
  ProtocolErrorCode,
  type CallToolResult,
  type ProtocolError,
} from '@modelcontextprotocol/server';
import { lifetimeMs, pollIntervalMs } from '../../../operations/tool/budgets.js';
import { isKind } from '../../../operations/errors.js';
import {
  ANSWERS_META_KEY,
  PROGRESS_META_KEY,
  STATUS_META_KEY,
  operationMeta,
} from '../../../operations/wire/meta-keys.js';
import { isTerminal, type OperationRecord } from '../../../operations/record.js';
import { taskStatusOf, type TaskStatus } from '../../../operations/status-names.js';
import { asTaskError, taskExpired } from '../../call/protocol-error.js';
import { renderFailure, renderResult } from '../../call/results.js';
import type { Tool } from '../../../operations/tool/index.js';
import { TASKS_EXTENSION } from './schemas.js';

/** Fields of every task (specs: ext-tasks, "Tasks"). */
interface Task {
  taskId: string;
  status: TaskStatus;
  statusMessage?: string;
  createdAt: string;
  lastUpdatedAt: string;
  ttlMs: number | null;
  pollIntervalMs?: number;
  _meta?: Record<string, unknown>;
}

type DetailedTask = Task & {
  result?: CallToolResult;
  error?: object;
  inputRequests?: Record<string, unknown>;
};

export interface RenderContext {
  /** Whether the client can show questions. If not, the status is `working` and its message says how to answer. */
  elicitation: boolean;
  /** Undefined if this server doesn't have the tool. */
  tool: Tool | undefined;
}

/** CreateTaskResult: the task without result, error or questions. */
export function renderCreated(
  record: OperationRecord,
  context: RenderContext,
): Task & { resultType: 'task' } {
  return { resultType: 'task', ...renderTask(record, context) };
}

/** DetailedTask (specs: ext-tasks, "Task Status"). */
export function renderDetailed(record: OperationRecord, context: RenderContext): DetailedTask {
  const task = renderTask(record, context);
  switch (task.status) {
    case 'input_required':
      return { ...task, inputRequests: renderInputRequests(record) };
    case 'completed':
      return {
        ...task,
        // The result that the call itself would have returned in this revision.
        result: {
          resultType: 'complete',
          ...(record.status === 'completed' ? renderResult(record, context.tool) : renderFailure(record)),
        },
      };
    case 'failed':
      return {
        ...task,
        error: {
          code: record.error?.code ?? ProtocolErrorCode.InternalError,
          message: record.error?.message ?? 'failed',
        },
      };
    default:
      return task;
  }
}

function renderTask(record: OperationRecord, { elicitation }: RenderContext): Task {
  const status = taskStatus(record, elicitation);
  const isUnshown = record.status === 'input_required' && !elicitation;
  const statusMessage = isUnshown ? howToAnswer(record) : record.statusMessage;
  return {
    taskId: record.token,
    status,
    statusMessage,
    createdAt: record.createdAt,
    lastUpdatedAt: record.updatedAt,
    ttlMs: lifetimeMs(record),
    ...(isTerminal(record.status) ? {} : { pollIntervalMs: pollIntervalMs(record.estimateSeconds) }),
    _meta: {
      [STATUS_META_KEY]: record.status,
      ...(record.progress || record.stage
        ? { [PROGRESS_META_KEY]: { ...record.progress, ...(record.stage ? { stage: record.stage } : {}) } }
        : {}),
      ...(record.answers ? { [ANSWERS_META_KEY]: record.answers } : {}),
      ...operationMeta(record),
    },
  };
}

function taskStatus(record: OperationRecord, elicitation: boolean): TaskStatus {
  if (record.status === 'expired') throw taskExpired();
  return record.status === 'input_required' && !elicitation ? 'working' : taskStatusOf(record);
}

function howToAnswer(record: OperationRecord): string {
  const [key, asked] = Object.entries(record.inputRequests)[0] ?? [];
  return `waits for an answer: ${asked?.message ?? ''} (answer with operation_answer, or: longhaul answer ${record.token} ${key ?? ''})`;
}

function renderInputRequests(record: OperationRecord): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(record.inputRequests).map(([key, { message, schema }]) => [
      key,
      { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema: schema } },
    ]),
  );
}

/** Maps the engine's errors to task errors (specs: ext-tasks, "Protocol Errors"). */
export function renderError(error: unknown): Error {
  const isForbidden = isKind(error, 'missing_capability');
  return isForbidden ? missingTasksCapability() : asTaskError(error);
}

/** -32021 with the extension in `requiredCapabilities`. */
export function missingTasksCapability(): ProtocolError {
  return new MissingRequiredClientCapabilityError({
    requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } },
  });
}
