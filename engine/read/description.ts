/** A run's state in Temporal's description. */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import type { StartMemo } from '../../operations/wire/index.js';
import { toDate } from './history.js';

export type PendingActivity = NonNullable<WorkflowExecutionDescription['raw']['pendingActivities']>[number];

/** When a run began; for a reset run, when the original began. */
export function startOf({ raw, startTime }: WorkflowExecutionDescription): Date {
  const { originalStartTime } = raw.workflowExtendedInfo ?? {};
  return originalStartTime ? toDate(originalStartTime) : startTime;
}

/**
 * When an operation was created, ISO 8601, by Temporal's clock. The memo holds the time if the run continues others. A server of an earlier
 * release may have written a later time, by its own clock.
 */
export function createdAtOf({ createdAt }: Pick<StartMemo, 'createdAt'>, start: Date): string {
  const isKnown = createdAt !== undefined && Date.parse(createdAt) <= start.getTime();
  return isKnown ? createdAt : start.toISOString();
}
