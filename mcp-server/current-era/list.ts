/** tools/list: which tools a client is shown, by what its request declares. Those it isn't shown can be called all the same. */
import type { ListToolsResult } from '@modelcontextprotocol/server';
import type { Engine } from '../../engine/index.js';
import { plainTools } from '../faces/plain/index.js';
import { asyncTools, syncTool } from '../faces/sep-1391/index.js';
import { taskTools } from '../faces/tasks-2026-07-28/list.js';
import { twoStageTools } from '../faces/two-stage/index.js';
import { operationTools } from '../operation-tools/index.js';
import { renderOwnTool } from '../own-tool.js';
import { ownTools } from '../own-tools.js';
import { isShown, listingFaceOf } from '../which-face.js';
import type { CurrentClient } from './client.js';

/** What the tasks extension doesn't give: logs and steps, lists, resuming and deleting. */
const BESIDE_TASKS = ['operation_get', 'operation_list', 'operation_resume', 'operation_delete'];

/** Tools that a face lists, without Longhaul's own. */
const LONG_TOOLS = { operation: asyncTools, 'two-stage': twoStageTools, task: taskTools, plain: plainTools };

export function toolsFor(engine: Engine, client: CurrentClient): ListToolsResult['tools'] {
  const face = listingFaceOf(client);
  const shown = [...BESIDE_TASKS, ...(client.elicitation ? [] : ['operation_answer'])];
  const own = [...ownTools(engine).values()]
    .filter(({ name }) => face !== 'task' || !operationTools.has(name) || shown.includes(name))
    .map(renderOwnTool);
  const long = (LONG_TOOLS[face](engine) as { name: string }[]).filter(({ name }) => {
    const tool = engine.tools.get(name);
    return !tool || isShown(tool, client);
  });
  const tools = [...long, ...(face === 'operation' ? own.map(syncTool) : own)];
  return tools as ListToolsResult['tools'];
}
