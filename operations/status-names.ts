/** Each protocol's names for the statuses of operations and their parts. The command line uses the record's own names. */
import {
  isOpenPart,
  isTerminal,
  type ChildStatus,
  type OperationRecord,
  type OperationStatus,
} from './record.js';

/** Task statuses of MCP (specs: 2025-11-25 basic/utilities/tasks; ext-tasks, "Task Status"). */
export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

/** Statuses of the plain contract, as in `operation_get`: open ones, then final ones. */
export const PLAIN_OPEN_STATUSES = ['queued', 'running', 'input_required'] as const;
/** Clients know both spellings of cancelled; the server sends `cancelled`. */
export const PLAIN_FINAL_STATUSES = [
  'completed',
  'failed',
  'cancelled',
  'canceled',
  'errored',
  'expired',
] as const;
export type PlainStatus = (typeof PLAIN_OPEN_STATUSES)[number] | (typeof PLAIN_FINAL_STATUSES)[number];

/** Statuses of the HTTP jobs API: open ones, then final ones. */
export const JOB_OPEN_STATUSES = ['queued', 'running'] as const;
export const JOB_FINAL_STATUSES = ['succeeded', 'failed', 'canceled', 'timed_out'] as const;
export const JOB_STATUSES = [...JOB_OPEN_STATUSES, ...JOB_FINAL_STATUSES] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

/** Operation statuses of SEP-1391, "GetOperationStatusResult". */
export type AsyncStatus =
  'submitted' | 'working' | 'completed' | 'canceled' | 'failed' | 'input_required' | 'unknown';

export type TwoStageStatus = 'queued' | 'running' | 'complete';

interface StatusNames {
  /**
   * Tasks of 2026-07-28. Failed or timed-out work has a `completed` task, and a result with `isError`. `failed` is for JSON-RPC errors
   * (specs: ext-tasks, "Task Execution Errors"): see {@link taskStatusOf}.
   */
  task: TaskStatus;
  olderTask: TaskStatus;
  plain: PlainStatus;
  job: JobStatus;
  sep1391: AsyncStatus;
  twoStage: TwoStageStatus;
}

const working = { task: 'working', olderTask: 'working', sep1391: 'working', twoStage: 'running' } as const;
const asking = { task: 'input_required', olderTask: 'input_required', sep1391: 'input_required' } as const;
const completed = { task: 'completed', olderTask: 'completed', sep1391: 'completed' } as const;
const failed = { olderTask: 'failed', sep1391: 'failed', twoStage: 'complete' } as const;
const canceled = { task: 'cancelled', olderTask: 'cancelled', sep1391: 'canceled' } as const;

/** Protocols of tasks and jobs answer an expired operation with an error, so they never send its name. */
export const STATUS_NAMES: Record<OperationStatus, StatusNames> = {
  submitted: { ...working, plain: 'queued', job: 'queued', sep1391: 'submitted', twoStage: 'queued' },
  working: { ...working, plain: 'running', job: 'running' },
  unknown: { ...working, plain: 'running', job: 'running', sep1391: 'unknown' },
  input_required: { ...asking, plain: 'input_required', job: 'running', twoStage: 'running' },
  completed: { ...completed, plain: 'completed', job: 'succeeded', twoStage: 'complete' },
  failed: { ...failed, task: 'completed', plain: 'failed', job: 'failed' },
  canceled: { ...canceled, plain: 'cancelled', job: 'canceled', twoStage: 'complete' },
  timed_out: { ...failed, task: 'completed', plain: 'errored', job: 'timed_out' },
  expired: { ...failed, task: 'failed', plain: 'expired', job: 'failed' },
};

/** Names of parts' statuses, in the protocols that show parts. */
export const PART_STATUS_NAMES: Record<
  ChildStatus,
  { plain: PlainStatus | 'skipped'; job: JobStatus | 'skipped' }
> = {
  pending: { plain: 'queued', job: 'queued' },
  working: STATUS_NAMES.working,
  input_required: STATUS_NAMES.input_required,
  completed: STATUS_NAMES.completed,
  failed: STATUS_NAMES.failed,
  canceled: STATUS_NAMES.canceled,
  timed_out: STATUS_NAMES.timed_out,
  skipped: { plain: 'skipped', job: 'skipped' },
};

/** Status of a part: parts left open get their ended operation's status. Only a termination leaves parts open: expired ones have failed. */
export function partStatusIn(operationStatus: OperationStatus, status: ChildStatus): ChildStatus {
  if (!isTerminal(operationStatus) || !isOpenPart(status)) return status;
  return operationStatus === 'expired' ? 'failed' : (operationStatus as ChildStatus);
}

/** `canceled` from the cancel request on, for protocols that treat it as final at once, though the work may still stop or even complete. */
export function statusOnceCanceled({
  status,
  cancelRequestedAt,
}: Pick<OperationRecord, 'status' | 'cancelRequestedAt'>): OperationStatus {
  return cancelRequestedAt !== undefined && status !== 'expired' ? 'canceled' : status;
}

/** Task status of 2026-07-28; `failed` for work that ended with a JSON-RPC error. */
export function taskStatusOf({ status, error }: Pick<OperationRecord, 'status' | 'error'>): TaskStatus {
  return status === 'failed' && error?.kind === 'protocol' ? 'failed' : STATUS_NAMES[status].task;
}
