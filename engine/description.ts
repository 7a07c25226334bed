/** State of a run in Temporal's description of it. */
import type { WorkflowExecutionDescription } from '@temporalio/client';

/** Whether the run can still change; an operator may have paused it. */
export function isOpen({ status }: Pick<WorkflowExecutionDescription, 'status'>): boolean {
  return status.name === 'RUNNING' || status.name === 'PAUSED';
}
