/** Options for starting a queue's workflow, by the first operation that asks it. */
import { WORKFLOW_TASK_TIMEOUT_MS } from '../operations/budgets.js';
import { queueWorkflowId, type QueueInput } from '../operations/queue-wire.js';
import { PRIORITIES } from '../operations/tool-queue.js';

export function queueStart(taskQueue: string, name: string) {
  return {
    workflowId: queueWorkflowId(taskQueue, name),
    taskQueue,
    args: [{ name }] as [QueueInput],
    staticSummary: `queue ${name}`,
    workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS,
    // Its tasks let others run, so they go first.
    priority: { priorityKey: PRIORITIES.first },
  };
}
