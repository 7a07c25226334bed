/** Tasks of 2026-07-28: the extension `io.modelcontextprotocol/tasks`. */
import { TASKS_AND_FORMS } from '../mcp.js';
import {
  elicitResultOf,
  failedStates,
  Refused,
  undefinedIfGone,
  type ProtocolClient,
  type Reading,
  type State,
} from './client.js';
import { call, failureKindOf, KEY_META, request, stateless } from './rpc.js';
import { untilNotified } from './notified.js';

export function tasksClient(url: string): ProtocolClient {
  const rpc = stateless(url, TASKS_AND_FORMS);
  const read = (taskId: string, signal?: AbortSignal) =>
    undefinedIfGone(async () => readingOf(await request(rpc, 'tasks/get', { taskId }, signal)));
  return {
    name: '2026-07-28 tasks',
    async start(tool, args, key, signal) {
      const result = await call(rpc, tool, args, { _meta: { [KEY_META]: key } }, signal);
      if (result.resultType !== 'task') throw new Error(`no task: ${JSON.stringify(result)}`);
      return result.taskId;
    },
    read,
    /** Every answer is acknowledged (specs: ext-tasks, "Task Update Requests"); `_meta` has the outcome. */
    async answer(taskId, key, given, signal) {
      const inputResponses = { [key]: elicitResultOf(given) };
      const { _meta } = await request(rpc, 'tasks/update', { taskId, inputResponses }, signal);
      const [outcome] = _meta?.['longhaul/answers'] ?? [];
      if (outcome?.state === 'refused') throw new Refused('wrong_state', undefined, outcome.reason);
      return outcome && (outcome.state === 'applied' ? 'accepted' : outcome.state);
    },
    async cancel(taskId, signal) {
      await request(rpc, 'tasks/cancel', { taskId }, signal);
      return undefined;
    },
    async wait(taskId, seconds, signal) {
      const isDone = ({ method, params }: any) =>
        method === 'notifications/tasks' && params.status !== 'working';
      await untilNotified(() => rpc.wire.listen({ taskIds: [taskId] }), isDone, seconds, signal);
      return read(taskId, signal);
    },
  };
}

function readingOf(task: any): Reading {
  const { status, inputRequests = {}, lastUpdatedAt, result, _meta } = task;
  const progress = _meta?.['longhaul/progress'];
  const answers = _meta?.['longhaul/answers'];
  return {
    status,
    states: statesOf(task),
    isOver: ['completed', 'failed', 'cancelled'].includes(status),
    ...(progress?.progress === undefined ? {} : { progress }),
    questions: Object.entries<any>(inputRequests).map(([key, { params }]) => ({
      key,
      message: params.message,
      schema: params.requestedSchema,
    })),
    ...(answers ? { answers } : {}),
    updatedAt: lastUpdatedAt,
    ...(status === 'completed' && !result.isError ? { result: result.structuredContent } : {}),
    raw: task,
  };
}

/** The status doesn't show whether a cancel is accepted. */
function statesOf({ status, result, _meta }: any): State[] {
  switch (status) {
    case 'completed':
      return result.isError ? failedStates(failureKindOf(result)) : ['completed'];
    case 'cancelled':
      return ['canceled'];
    case 'failed':
      return ['failed'];
    case 'input_required':
      return ['input_required', 'canceling'];
    default: {
      const open = _meta?.['longhaul/status'];
      return open === 'submitted' || open === 'working'
        ? [open, 'canceling']
        : ['submitted', 'working', 'canceling'];
    }
  }
}
