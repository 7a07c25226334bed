/** The client of a request, by the capabilities in it, and its list of tools as tasks. */
import {
  type ListToolsResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { ProtocolLines } from '../../operations/documentation/describe.js';
import type { Tool } from '../../operations/tool/index.js';
import { experimentalCapabilitiesOf, selectListProtocol, type Client } from '../call/select-protocol.js';
import type { RequestCancellation, Serving } from '../call/serving.js';
import { listedTool, type ListedTool } from '../listed-tools/listed-tool.js';
import type { Viewer } from '../revisions/methods.js';
import { missingTasksCapability } from './tasks/render.js';
import { capabilitiesOf } from './tasks/schemas.js';

type Tools = ListToolsResult['tools'];

function listTaskTool(tool: Tool): ListedTool {
  return listedTool(tool, 'Becomes a task.');
}

/** Cancelling the request doesn't cancel its task (specs: ext-tasks, "Task Cancellation"). */
const NOT_CANCELLED_BY: Record<RequestCancellation, string> = {
  notification: 'notifications/cancelled does not.',
  'closed stream': 'The end of a stream does not.',
};

function documentTaskTool({ keepAliveSeconds }: Tool, cancelledBy: RequestCancellation): ProtocolLines {
  return {
    states:
      'Task states: working, input_required; final: completed (with isError for a failure or time-out), failed, cancelled.',
    following: `Becomes a task, which continues whether or not a client waits: tasks/get after pollIntervalMs, or subscriptions/listen. Its result is kept ${keepAliveSeconds} s.`,
    cancel: `tasks/cancel ends the work, idempotently; what is finished stays. ${NOT_CANCELLED_BY[cancelledBy]}`,
    example: (result) =>
      `{"taskId":"T","status":"working"}; tasks/get {"taskId":"T"} -> {"status":"working"}, later {"status":"completed","result":{"structuredContent":${result}}}.`,
  };
}

export interface CurrentClient extends Client {
  elicitation: boolean;
}

/** @throws ProtocolError -32602 for an opt-in that isn't an object */
export function clientOf({ mcpReq }: ServerContext): CurrentClient {
  const envelope = mcpReq.envelope as Record<string, unknown> | undefined;
  const { tasks, elicitation } = capabilitiesOf(envelope);
  return {
    ...experimentalCapabilitiesOf(envelope?.[CLIENT_CAPABILITIES_META_KEY]),
    tasks: tasks ? 'extension' : 'none',
    needsTasks: missingTasksCapability,
    elicitation,
  };
}

/** Tools that duplicate task methods, with a note on when a client with tasks needs them. */
const TASK_SUBSTITUTES: ReadonlyMap<string, string> = new Map([
  [
    'operation_answer',
    "The client itself asks the questions of a task. Use this if it doesn't, or if tasks/update can't be used; the token is the taskId.",
  ],
  [
    'operation_cancel',
    "A task is cancelled with tasks/cancel. Use this if that can't be used, or for many tasks; the token is the taskId.",
  ],
]);

/** @throws ProtocolError as {@link clientOf} */
export function viewerOf(context: ServerContext, transport: Serving['transport']): Viewer {
  return {
    client: clientOf(context),
    cancelledBy: transport === 'http' ? 'closed stream' : 'notification',
    tasks: { list: listTaskTool, document: documentTaskTool },
  };
}

/** For clients with tasks, puts the tools that duplicate task methods last, with their notes. */
export function withTaskSubstitutes(tools: Tools, client: Client): Tools {
  if (selectListProtocol(client) !== 'task') return tools;
  const others = tools.filter(({ name }) => !TASK_SUBSTITUTES.has(name));
  const instead = tools.flatMap((tool) => {
    const note = TASK_SUBSTITUTES.get(tool.name);
    return note === undefined ? [] : [{ ...tool, description: `${tool.description}\n${note}` }];
  });
  return [...others, ...instead];
}
