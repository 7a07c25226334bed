/** Renders records as tasks, and errors of task requests (specs: 2025-11-25 basic/utilities/tasks). */
import { lifetimeMs, pollIntervalMs } from '../../../operations/tool/budgets.js';
import { withOperationMeta } from '../../../operations/wire/meta-keys.js';
import type { OperationRecord } from '../../../operations/record.js';
import { STATUS_NAMES, statusOnceCanceled, type TaskStatus } from '../../../operations/status-names.js';
import { questionText } from '../../call/elicitation.js';
import { taskExpired } from '../../call/protocol-error.js';

/** The fields of every task (specs: "Data Types"). Times are ISO 8601, durations milliseconds. */
export interface Task {
  taskId: string;
  status: TaskStatus;
  statusMessage?: string;
  createdAt: string;
  lastUpdatedAt: string;
  /** Null while the task is open: only its work, a cancel or an operator ends it. */
  ttl: number | null;
  pollInterval?: number;
  _meta?: Record<string, unknown>;
}

export interface RenderContext {
  /** Whether the client can show questions. If not, the status is `working` and its message says how to answer. */
  elicitation: boolean;
}

const TERMINAL: ReadonlySet<TaskStatus> = new Set(['completed', 'failed', 'cancelled']);

export function isTerminalTask({ status }: Task): boolean {
  return TERMINAL.has(status);
}

/** @throws ProtocolError -32602 for an expired task */
export function renderTask(record: OperationRecord, context: RenderContext): Task {
  const status = taskStatus(record, context);
  const statusMessage = messageOf(record, status);
  return {
    taskId: record.token,
    status,
    statusMessage,
    createdAt: record.createdAt,
    lastUpdatedAt: record.updatedAt,
    ttl: lifetimeMs(record),
    ...(TERMINAL.has(status) ? {} : { pollInterval: pollIntervalMs(record.estimateSeconds) }),
    ...withOperationMeta(record),
  };
}

/** After a cancel request the task is `cancelled`, even while its work cleans up. */
function taskStatus(record: OperationRecord, { elicitation }: RenderContext): TaskStatus {
  const status = statusOnceCanceled(record);
  if (status === 'expired') throw taskExpired();
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
