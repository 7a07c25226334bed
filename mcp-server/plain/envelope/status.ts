/** Plain tools' statuses of operations and their parts. */
import type { ChildRecord, ChildStatus, OperationRecord } from '../../../operations/record.js';
import {
  PART_STATUS_NAMES,
  partStatusIn,
  PLAIN_OPEN_STATUSES,
  STATUS_NAMES,
  type PlainStatus,
} from '../../../operations/status-names.js';

/** A part can also be skipped. */
export type PlainChildStatus = PlainStatus | 'skipped';

export interface PlainChild {
  name: string;
  status: PlainChildStatus;
}

/** Maximum parts listed: open ones first, then failed ones. */
const MAX_CHILDREN = 100;

type StatusOfRecord = Pick<OperationRecord, 'status'>;

/** An operation that is being cancelled is `running` until it has ended. */
export function plainStatus({ status }: StatusOfRecord): PlainStatus {
  return STATUS_NAMES[status].plain;
}

export function isOver(status: PlainChildStatus): boolean {
  return !(PLAIN_OPEN_STATUSES as readonly string[]).includes(status);
}

/**
 * An operation's parts, listed so that the operation has ended once all of them have. The operation itself becomes a part while its
 * parts are unknown, and while all of them have ended before it.
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
