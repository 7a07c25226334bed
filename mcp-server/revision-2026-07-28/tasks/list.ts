/** Tools as listed for clients with tasks. */
import type { Guard } from '../../guard.js';
import type { ProtocolLines } from '../../../operations/documentation/describe.js';
import type { Tool } from '../../../operations/tool.js';
import { listedTool, shortTool, type ListedTool } from '../../shared/listed-tool.js';
import type { RequestCancellation } from '../../shared/serving.js';

export function taskTools(engine: Guard): ListedTool[] {
  return engine.tools.map((tool) =>
    tool.taskSupport === 'forbidden' ? shortTool(tool) : listedTool(tool, 'Becomes a task.'),
  );
}

/** Cancelling the request doesn't cancel its task (specs: ext-tasks, "Task Cancellation"). */
const NOT_CANCELLED_BY: Record<RequestCancellation, string> = {
  notification: 'notifications/cancelled does not.',
  'closed stream': 'The end of a stream does not.',
};

export function documentTaskTool(
  { keepAliveSeconds }: Tool,
  cancelledBy: RequestCancellation,
): ProtocolLines {
  return {
    states:
      'Task states: working, input_required; final: completed (with isError for a failure or time-out), failed, cancelled.',
    following: `Becomes a task, which continues whether or not a client waits: tasks/get after pollIntervalMs, or subscriptions/listen. Its result is kept ${keepAliveSeconds} s.`,
    cancel: `tasks/cancel ends the work, idempotently; what is finished stays. ${NOT_CANCELLED_BY[cancelledBy]}`,
    example: (result) =>
      `{"taskId":"T","status":"working"}; tasks/get {"taskId":"T"} -> {"status":"working"}, later {"status":"completed","result":{"structuredContent":${result}}}.`,
  };
}
