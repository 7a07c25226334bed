/** Long tools as clients with tasks are told of them: the protocol itself says how a task is followed. */
import type { Engine } from '../../../engine/index.js';
import { humanDuration } from '../../../operations/budgets.js';
import type { Tool } from '../../../operations/tool.js';

export function taskTools(engine: Engine) {
  return engine.tools.values().map((tool) => ({
    name: tool.name,
    title: tool.title,
    description: tool.taskSupport === 'forbidden' ? tool.description : describe(tool),
    inputSchema: tool.inputSchema,
    ...(tool.outputSchema ? { outputSchema: tool.outputSchema } : {}),
    ...(tool.annotations ? { annotations: tool.annotations } : {}),
  }));
}

function describe({ description, keepAliveSeconds }: Tool): string {
  return [
    description,
    'Becomes a task, which goes on whether or not anybody waits. Cancelling it ends the work; what is finished stays.',
    `Its result can be read for up to ${humanDuration(keepAliveSeconds)} after the end.`,
  ].join('\n');
}
