/** tools/list, by the capabilities in the client's request. Unlisted tools can still be called. */
import type { ListToolsResult } from '@modelcontextprotocol/server';
import type { Guard } from '../guard.js';
import { documentPlainTool, plainTools } from '../plain/index.js';
import { asyncTools, documentAsyncTool, syncTool } from '../sep-1391/index.js';
import { documentTaskTool, taskTools } from './tasks/list.js';
import { documentTwoStageTool, twoStageTools } from '../two-stage/index.js';
import { renderBuiltinTool } from '../plain/builtin-tool.js';
import { builtinTools, documentationOf } from '../plain/builtin-tools.js';
import type { DocumentTool } from '../shared/listed-tool.js';
import type { RequestCancellation, Serving } from '../shared/serving.js';
import { isListed, selectListProtocol, type CallProtocol } from '../shared/select-protocol.js';
import type { CurrentClient } from './client.js';

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
