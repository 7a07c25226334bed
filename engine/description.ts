/** State of a run in Temporal's description of it. */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import type { StartMemo } from '../operations/wire.js';
import { toDate } from './history.js';

/** Whether the run can still change; an operator may have paused it. */
export function isOpen({ status }: Pick<WorkflowExecutionDescription, 'status'>): boolean {
  return status.name === 'RUNNING' || status.name === 'PAUSED';
}

/** When a run began, or the run that it is a reset of. */
export function startOf({ raw, startTime }: WorkflowExecutionDescription): Date {
  const { originalStartTime } = raw.workflowExtendedInfo ?? {};
  return originalStartTime ? toDate(originalStartTime) : startTime;
}

/**
 * When an operation was created, ISO 8601, by Temporal's clock: a run that continues others has it in its memo. A server of an earlier
 * release may have written a later time, by its own clock.
 *
 * @param start of the run
 */
export function createdAtOf({ createdAt }: Pick<StartMemo, 'createdAt'>, start: Date): string {
  const isKnown = createdAt !== undefined && Date.parse(createdAt) <= start.getTime();
  return isKnown ? createdAt : start.toISOString();
}
