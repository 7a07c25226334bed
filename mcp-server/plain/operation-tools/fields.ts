/** Arguments and helpers that several operation_* tools share. */
import { z } from 'zod';
import { LonghaulError } from '../../../operations/errors.js';
import type { OperationStatus } from '../../../operations/record.js';
import { STATUS_NAMES } from '../../../operations/status-names.js';

export const token = z.string().min(1).max(1000);

export const reference = z.string().min(1).max(1000);

/** Statuses that lists can filter by, by plain name. */
const LISTED_STATUSES = new Map<string, OperationStatus>(
  (['working', 'input_required', 'completed', 'failed', 'canceled', 'timed_out'] as const).map((status) => [
    STATUS_NAMES[status].plain,
    status,
  ]),
);

export const listedStatus = z.enum([...LISTED_STATUSES.keys()]);

/** @param status one of {@link listedStatus} */
export function engineStatus(status: string): OperationStatus {
  return LISTED_STATUSES.get(status)!;
}

/** @throws LonghaulError `invalid_arguments` */
export function refuse(message: string): never {
  throw new LonghaulError('invalid_arguments', message);
}

/** A tool call as text that a model can copy. */
export function callText(tool: string, args: object): string {
  return `${tool} ${JSON.stringify(args)}`;
}
