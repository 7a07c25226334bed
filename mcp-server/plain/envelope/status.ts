/** The statuses of plain tools: of the operation, and of its parts. */
import type { ChildRecord, ChildStatus, OperationRecord } from '../../../operations/record.js';
import {
  PART_STATUS_NAMES,
  partStatusIn,
  PLAIN_OPEN_STATUSES,
  STATUS_NAMES,
  type PlainStatus,
} from '../../../operations/status-names.js';

/** A part has one more way to end than an operation: it may never have had to run. */
export type PlainChildStatus = PlainStatus | 'skipped';

export interface PlainChild {
  name: string;
  status: PlainChildStatus;
}

/** How many parts are listed at most: those that are open first, then those that went wrong. */
const MAX_CHILDREN = 100;

type StatusOfRecord = Pick<OperationRecord, 'status'>;

/** The record's status in the words of plain tools. One that is being cancelled runs until it has ended. */
export function plainStatus({ status }: StatusOfRecord): PlainStatus {
  return STATUS_NAMES[status].plain;
}

/** Has the operation ended, as far as callers of plain tools are concerned? */
export function isOver(status: PlainChildStatus): boolean {
  return !(PLAIN_OPEN_STATUSES as readonly string[]).includes(status);
}

/**
 * The parts of an operation, such that it has ended when all of them have: while its parts aren't known yet, or all
 * have ended and the operation hasn't, it stands among them itself.
 */
export function plainChildren(record: OperationRecord): PlainChild[] {
  const status = plainStatus(record);
  const children = (record.children ?? []).map((child) => plainChild(child, record)).sort(byUrgency);
  const areAllOver = children.every((child) => isOver(child.status));
  const includesOperation = children.length === 0 || (areAllOver && !isOver(status));
  return [...(includesOperation ? [{ name: record.tool, status }] : []), ...children].slice(0, MAX_CHILDREN);
}

function plainChild({ name, status }: ChildRecord, record: OperationRecord): PlainChild {
  return { name, status: plainChildStatus(status, record) };
}

/** The status of a part of this operation, or of a step of one. */
export function plainChildStatus(status: ChildStatus, ofOperation: StatusOfRecord): PlainChildStatus {
  return PART_STATUS_NAMES[partStatusIn(ofOperation.status, status)].plain;
}

function byUrgency(one: PlainChild, other: PlainChild): number {
  return urgencyRank(one) - urgencyRank(other);
}

function urgencyRank({ status }: PlainChild): number {
  if (!isOver(status)) return 0;
  return status === 'completed' || status === 'skipped' ? 2 : 1;
}
