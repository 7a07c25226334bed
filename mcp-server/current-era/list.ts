/** tools/list: which tools a client is shown, by what its request declares. Those it isn't shown can be called all the same. */
import type { ListToolsResult } from '@modelcontextprotocol/server';
import type { Engine } from '../../engine/index.js';
import { plainTools } from '../faces/plain/index.js';
import { taskTools } from '../faces/tasks-2026-07-28/list.js';
import type { DeclaredCapabilities } from '../faces/tasks-2026-07-28/schemas.js';
import { operationTools } from '../operation-tools/index.js';
import { renderOwnTool } from '../own-tool.js';
import { ownTools } from '../own-tools.js';

/** What the tasks extension doesn't give: logs and steps, lists, going on with what failed. */
const BESIDE_TASKS = ['operation_get', 'operation_list', 'operation_resume'];

export function toolsFor(
  engine: Engine,
  { tasks, elicitation }: DeclaredCapabilities,
): ListToolsResult['tools'] {
  const shown = [...BESIDE_TASKS, ...(elicitation ? [] : ['operation_answer'])];
  const own = [...ownTools(engine).values()].filter(
    ({ name }) => !tasks || !operationTools.has(name) || shown.includes(name),
  );
  const tools = [...(tasks ? taskTools(engine) : plainTools(engine)), ...own.map(renderOwnTool)];
  return tools as ListToolsResult['tools'];
}
