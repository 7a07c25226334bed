/** The statuses of plain tools: of the operation, and of its parts. */
import type { ChildRecord, ChildStatus, OperationRecord, OperationStatus } from '../../operations/record.js';

export const OPEN_STATUSES = ['queued', 'running', 'input_required'] as const;
/** Both spellings of cancelled are known to clients; `cancelled` is the one that is said. */
export const TERMINAL_STATUSES = [
  'completed',
  'failed',
  'cancelled',
  'canceled',
  'errored',
  'expired',
] as const;

export type PlainStatus = (typeof OPEN_STATUSES)[number] | (typeof TERMINAL_STATUSES)[number];

/** A part has one more way to end than an operation: it may never have had to run. */
export type PlainChildStatus = PlainStatus | 'skipped';

export interface PlainChild {
  name: string;
  status: PlainChildStatus;
}

/** How many parts are listed at most: those that are open first, then those that went wrong. */
const MAX_CHILDREN = 100;

const OF_OPERATION: Record<OperationStatus, PlainStatus> = {
  submitted: 'queued',
  working: 'running',
  unknown: 'running',
  input_required: 'input_required',
  completed: 'completed',
  failed: 'failed',
  canceled: 'cancelled',
  timed_out: 'errored',
  expired: 'expired',
};

const OF_CHILD: Record<ChildStatus, PlainChildStatus> = {
  pending: 'queued',
  working: 'running',
  input_required: 'input_required',
  completed: 'completed',
  failed: 'failed',
  canceled: 'cancelled',
  timed_out: 'errored',
  skipped: 'skipped',
};

/** The record's status in the words of plain tools. One that is being cancelled runs until it has ended. */
export function plainStatus({ status }: Pick<OperationRecord, 'status'>): PlainStatus {
  return OF_OPERATION[status];
}

/** Has the operation ended, as far as callers of plain tools are concerned? */
export function isOver(status: PlainChildStatus): boolean {
  return !(OPEN_STATUSES as readonly string[]).includes(status);
}

/**
 * The parts of an operation, such that it has ended when all of them have: while its parts aren't known yet, or all
 * have ended and the operation hasn't, it stands among them itself.
 */
export function plainChildren(record: OperationRecord): PlainChild[] {
  const status = plainStatus(record);
  const children = (record.children ?? []).map((child) => plainChild(child, status)).sort(byInterest);
  const areAllOver = children.every((child) => isOver(child.status));
  const isAmiss = children.length === 0 || (areAllOver && !isOver(status));
  return [...(isAmiss ? [{ name: record.tool, status }] : []), ...children].slice(0, MAX_CHILDREN);
}

function plainChild({ name, status }: ChildRecord, ofOperation: PlainStatus): PlainChild {
  return { name, status: plainChildStatus(status, ofOperation) };
}

/** The status of a part, or of a step of one. What an operation left open as it ended has ended with it. */
export function plainChildStatus(status: ChildStatus, ofOperation: PlainStatus): PlainChildStatus {
  const own = OF_CHILD[status];
  return isOver(ofOperation) && !isOver(own) ? ofOperation : own;
}

function byInterest(one: PlainChild, other: PlainChild): number {
  return interestOf(one) - interestOf(other);
}

function interestOf({ status }: PlainChild): number {
  if (!isOver(status)) return 0;
  return status === 'completed' || status === 'skipped' ? 2 : 1;
}
