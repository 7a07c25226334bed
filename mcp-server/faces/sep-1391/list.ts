/** Tools as clients with operation tokens are told of them (SEP-1391, "Enhanced Tool Definitions"). */
import type { Engine } from '../../../engine/index.js';
import { humanDuration } from '../../../operations/budgets.js';
import type { Tool } from '../../../operations/tool.js';

/** The tools, without those about operations. */
export function asyncTools(engine: Engine): object[] {
  return engine.tools.values().map((tool) => {
    const { name, title, description, inputSchema, outputSchema, annotations } = tool;
    const hints = annotations ? { annotations } : {};
    if (tool.taskSupport === 'forbidden')
      return syncTool({
        name,
        title,
        description,
        inputSchema,
        ...(outputSchema ? { outputSchema } : {}),
        ...hints,
      });
    // Without its output schema: the call's immediate reply would have to match it (specs: server/tools, "Output Schema").
    return {
      name,
      title,
      description: describe(tool),
      inputSchema,
      ...hints,
      invocationMode: 'async',
    };
  });
}

/** A tool whose every call is answered with its result. */
export function syncTool(tool: object): object {
  return { ...tool, invocationMode: 'sync' };
}

function describe({ description, keepAliveSeconds }: Tool): string {
  return [
    description,
    'Answers at once and goes on by itself; the result comes later.',
    `It can be read for up to ${humanDuration(keepAliveSeconds)} after the end.`,
  ].join('\n');
}
