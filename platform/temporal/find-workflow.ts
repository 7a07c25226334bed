/** Describes workflows that may not exist. */
import { WorkflowNotFoundError, type Client, type WorkflowExecutionDescription } from '@temporalio/client';

export const CALL_LIMIT_MS = 5_000;

/** Whether the run can still change. An operator may have paused it. */
export function isOpen({ status }: Pick<WorkflowExecutionDescription, 'status'>): boolean {
  return status.name === 'RUNNING' || status.name === 'PAUSED';
}

/** Describes a workflow; undefined when Temporal doesn't know it. @throws when Temporal can't be reached */
export async function findWorkflow(
  client: Client,
  workflowId: string,
): Promise<WorkflowExecutionDescription | undefined> {
  try {
    return await client.withDeadline(Date.now() + CALL_LIMIT_MS, () =>
      client.workflow.getHandle(workflowId).describe(),
    );
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}
