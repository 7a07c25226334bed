/** The record as this face's task and errors (specs: 2025-11-25 basic/utilities/tasks). */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { lifetimeMs, pollIntervalMs } from '../../../operations/budgets.js';
import { LonghaulError } from '../../../operations/errors.js';
import type { OperationRecord } from '../../../operations/record.js';
import { STATUS_NAMES, statusOnceCanceled, type TaskStatus } from '../../../operations/status-names.js';
import { questionText } from '../../shared/elicitation.js';
import { asProtocolError } from '../../shared/protocol-error.js';

/** The fields of every task (specs: "Data Types"). Times are ISO 8601, durations milliseconds. */
export interface Task {
  taskId: string;
  status: TaskStatus;
  statusMessage?: string;
  createdAt: string;
  lastUpdatedAt: string;
  /** Null while the task is open: nothing ends it but its work, a cancel or an operator. */
  ttl: number | null;
  pollInterval?: number;
}

export interface RenderContext {
  /** Can this client show questions? If not, the task reads `working` and says how to answer. */
  elicitation: boolean;
}

const TERMINAL: ReadonlySet<TaskStatus> = new Set(['completed', 'failed', 'cancelled']);

export function isTerminalTask({ status }: Task): boolean {
  return TERMINAL.has(status);
}

/** @throws ProtocolError -32602 for one that has expired */
export function renderTask(record: OperationRecord, context: RenderContext): Task {
  const status = taskStatus(record, context);
  const statusMessage = messageOf(record, status);
  return {
    taskId: record.token,
    status,
    ...(statusMessage === undefined ? {} : { statusMessage }),
    createdAt: record.createdAt,
    lastUpdatedAt: record.updatedAt,
    ttl: lifetimeMs(record),
    ...(TERMINAL.has(status) ? {} : { pollInterval: pollIntervalMs(record.estimateSeconds) }),
  };
}

/** From the moment a cancel is taken the task is cancelled for good, whatever the work still does. */
function taskStatus(record: OperationRecord, { elicitation }: RenderContext): TaskStatus {
  const status = statusOnceCanceled(record);
  if (status === 'expired')
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Failed to retrieve task: Task has expired', {
      kind: 'expired',
      retryable: false,
    });
  return status === 'input_required' && !elicitation ? 'working' : STATUS_NAMES[status].olderTask;
}

function messageOf(record: OperationRecord, status: TaskStatus): string | undefined {
  const [key, asked] = Object.entries(record.inputRequests)[0] ?? [];
  if (key !== undefined && asked && record.status === 'input_required') {
    return status === 'input_required'
      ? `waits for an answer: ${asked.message}`
      : questionText(record.token, key, asked.message);
  }
  return record.statusMessage;
}

/** Errors of the engine's verbs as this face's errors (specs: "Error Handling", "Protocol Errors"). */
export function renderError(error: unknown): Error {
  if (!(error instanceof LonghaulError)) return error as Error;
  return asProtocolError(
    error,
    error.kind === 'not_found' ? { message: 'Failed to retrieve task: Task not found' } : {},
  );
}
