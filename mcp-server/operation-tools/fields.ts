/** What several of these tools take and give. */
import { z } from 'zod';
import { LonghaulError } from '../../operations/errors.js';
import type { OperationStatus } from '../../operations/record.js';

export const token = z.string().min(1).max(1000).describe('Token of the operation: what its start gave.');

export const reference = z.string().min(1).max(1000);

/** Statuses that lists tell apart, in plain words, and what the engine calls them. */
const LISTED_STATUSES = {
  running: 'working',
  input_required: 'input_required',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'canceled',
  errored: 'timed_out',
} as const satisfies Record<string, OperationStatus>;

type ListedStatus = keyof typeof LISTED_STATUSES;

export const listedStatus = z.enum(Object.keys(LISTED_STATUSES) as [ListedStatus, ...ListedStatus[]]);

export function engineStatus(status: ListedStatus): OperationStatus {
  return LISTED_STATUSES[status];
}

/** @throws LonghaulError `invalid_arguments` */
export function refuse(message: string): never {
  throw new LonghaulError('invalid_arguments', message);
}

/** A call for a model to copy. */
export function callText(tool: string, args: object): string {
  return `${tool} ${JSON.stringify(args)}`;
}
