/** tools/list: which tools a client is shown, by what its request declares. Those it isn't shown can be called all the same. */
import type { ListToolsResult } from '@modelcontextprotocol/server';
import type { Engine } from '../../engine/index.js';
import { plainTools } from '../plain/index.js';
import { asyncTools, syncTool } from '../sep-1391/index.js';
import { taskTools } from './tasks/list.js';
import { twoStageTools } from '../two-stage/index.js';
import { renderBuiltinTool } from '../plain/builtin-tool.js';
import { builtinTools } from '../plain/builtin-tools.js';
import type { Serving } from '../shared/serving.js';
import { isShown, listingFaceOf } from '../shared/select-protocol.js';
import type { CurrentClient } from './client.js';

/** Tools that do what tasks do by themselves, and when a client with tasks needs them all the same. */
const TASK_SUBSTITUTES: Record<string, string> = {
  operation_answer:
    "Of a task the client asks by itself. Use this when it doesn't, or tasks/update can't be used; the token is the taskId.",
  operation_cancel:
    "A task is cancelled with tasks/cancel. Use this when that can't be used, or for many; the token is the taskId.",
};

/** Tools that a face lists, without Longhaul's own. */
const LONG_TOOLS = { operation: asyncTools, 'two-stage': twoStageTools, task: taskTools, plain: plainTools };

export function toolsFor(
  engine: Engine,
  client: CurrentClient,
  transport: Serving['transport'],
): ListToolsResult['tools'] {
  const face = listingFaceOf(client);
  const cancelledBy = transport === 'http' ? 'closed stream' : 'notification';
  const own = [...builtinTools(engine).values()].map(renderBuiltinTool);
  const long = (LONG_TOOLS[face](engine, cancelledBy) as { name: string }[]).filter(({ name }) => {
    const tool = engine.tools.get(name);
    return !tool || isShown(tool, client);
  });
  const tools = [
    ...long,
    ...(face === 'operation' ? own.map(syncTool) : face === 'task' ? withTaskSubstitutes(own) : own),
  ];
  return tools as ListToolsResult['tools'];
}

/** The tools that tasks make superfluous come last, for clients whose tasks don't work. */
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
