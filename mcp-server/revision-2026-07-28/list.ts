/** tools/list, by the capabilities in the client's request. Unlisted tools can still be called. */
import {
  type ListToolsResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Guard } from '../guard.js';
import { documentPlainTool, plainTools } from '../plain/list.js';
import { asyncTools, documentAsyncTool, syncTool } from '../sep-1391/list.js';
import { documentTwoStageTool, twoStageTools } from '../two-stage/list.js';
import { renderBuiltinTool } from '../plain/builtin-tool.js';
import { builtinTools, documentationOf } from '../plain/builtin-tools.js';
import { type DocumentTool, listedTool, shortTool, type ListedTool } from '../listed-tools/listed-tool.js';
import type { RequestCancellation, Serving } from '../call/serving.js';
import {
  isListed,
  selectListProtocol,
  type CallProtocol,
  experimentalCapabilitiesOf,
  type Client,
} from '../call/select-protocol.js';
import { missingTasksCapability } from './tasks/render.js';
import { declaredCapabilities } from './tasks/schemas.js';
import type { ProtocolLines } from '../../operations/documentation/describe.js';
import type { Tool } from '../../operations/tool/index.js';

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

export interface CurrentClient extends Client {
  elicitation: boolean;
}

/** @throws ProtocolError -32602 for an opt-in that isn't an object */
export function clientOf({ mcpReq }: ServerContext): CurrentClient {
  const envelope = mcpReq.envelope as Record<string, unknown> | undefined;
  const capabilities = envelope?.[CLIENT_CAPABILITIES_META_KEY];
  const { tasks, elicitation } = declaredCapabilities(capabilities);
  return {
    ...experimentalCapabilitiesOf(capabilities),
    tasks: tasks ? 'extension' : 'none',
    needsTasks: missingTasksCapability,
    elicitation,
  };
}

/** Tools that duplicate task methods, with a note on when a client with tasks needs them. */
const TASK_SUBSTITUTES: Record<string, string> = {
  operation_answer:
    "The client itself asks the questions of a task. Use this if it doesn't, or if tasks/update can't be used; the token is the taskId.",
  operation_cancel:
    "A task is cancelled with tasks/cancel. Use this if that can't be used, or for many tasks; the token is the taskId.",
};

const LONG_TOOLS = { operation: asyncTools, 'two-stage': twoStageTools, task: taskTools, plain: plainTools };

const DOCUMENTS: Record<CallProtocol, DocumentTool> = {
  operation: documentAsyncTool,
  'two-stage': documentTwoStageTool,
  task: documentTaskTool,
  plain: documentPlainTool,
};

export function toolsFor(
  engine: Guard,
  client: CurrentClient,
  transport: Serving['transport'],
): ListToolsResult['tools'] {
  const protocol = selectListProtocol(client);
  const own = [...builtinTools(engine).values()].map(renderBuiltinTool);
  const long = (LONG_TOOLS[protocol](engine, cancellationOf(transport)) as { name: string }[]).filter(
    ({ name }) => {
      const tool = engine.tools.get(name);
      return !tool || isListed(tool, client);
    },
  );
  const tools = [
    ...long,
    ...(protocol === 'operation' ? own.map(syncTool) : protocol === 'task' ? withTaskSubstitutes(own) : own),
  ];
  return tools as ListToolsResult['tools'];
}

/** @throws LonghaulError `unknown_tool` */
export function documentationFor(
  engine: Guard,
  name: string,
  client: CurrentClient,
  transport: Serving['transport'],
): string {
  return documentationOf(engine, name, {
    document: DOCUMENTS[selectListProtocol(client)],
    cancelledBy: cancellationOf(transport),
    isListed: (tool) => isListed(tool, client),
    listedNames: () => toolsFor(engine, client, transport).map((one) => one.name),
  });
}

function cancellationOf(transport: Serving['transport']): RequestCancellation {
  return transport === 'http' ? 'closed stream' : 'notification';
}

/** Puts the tools that duplicate task methods last, with their notes. */
function withTaskSubstitutes(
  own: ReturnType<typeof renderBuiltinTool>[],
): ReturnType<typeof renderBuiltinTool>[] {
  const others = own.filter(({ name }) => !(name in TASK_SUBSTITUTES));
  const instead = own.flatMap((tool) => {
    const note = TASK_SUBSTITUTES[tool.name];
    return note === undefined ? [] : [{ ...tool, description: `${tool.description}\n${note}` }];
  });
  return [...others, ...instead];
}
