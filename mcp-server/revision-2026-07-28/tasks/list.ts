/** Long tools as clients with tasks are told of them: the protocol itself says how a task is followed. */
import type { Engine } from '../../../engine/index.js';
import { shownInput, shownResult, type FaceLines } from '../../../operations/documentation/describe.js';
import type { Tool } from '../../../operations/tool.js';
import { KEY_LINE } from '../../shared/idempotency-key.js';
import { listedTool, shortTool, type ListedTool } from '../../shared/listed-tool.js';
import type { RequestCancellation } from '../../shared/serving.js';

/** The project's tools, without Longhaul's own. */
export function taskTools(engine: Engine, cancelledBy: RequestCancellation): ListedTool[] {
  return engine.tools
    .values()
    .map((tool) =>
      tool.taskSupport === 'forbidden' ? shortTool(tool) : listedTool(tool, linesOf(tool, cancelledBy)),
    );
}

/** Neither is for tasks (specs: ext-tasks, "Task Cancellation"). */
const NOT_CANCELLED_BY: Record<RequestCancellation, string> = {
  notification: 'notifications/cancelled does not.',
  'closed stream': 'The end of a stream does not.',
};

function linesOf({ name, keepAliveSeconds, example }: Tool, cancelledBy: RequestCancellation): FaceLines {
  return {
    states:
      'Task states: working, input_required; final: completed (with isError for a failure or time-out), failed, cancelled.',
    following: `Becomes a task, which goes on whether or not anybody waits: tasks/get after pollIntervalMs, or subscriptions/listen. Its result stays ${keepAliveSeconds} s.`,
    cancel: `tasks/cancel ends the work, again and again alike; what is finished stays. ${NOT_CANCELLED_BY[cancelledBy]}`,
    idempotency: KEY_LINE,
    rates: 'No rate limits.',
    example: `Example: ${name} ${shownInput(example)} -> {"taskId":"T","status":"working"}; tasks/get {"taskId":"T"} -> {"status":"working"}, later {"status":"completed","result":{"structuredContent":${shownResult(example)}}}.`,
  };
}
