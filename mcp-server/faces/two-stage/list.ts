/** Long tools as clients with two-stage returns are told of them. */
import type { Engine } from '../../../engine/index.js';
import { humanDuration } from '../../../operations/budgets.js';
import type { Tool } from '../../../operations/tool.js';
import { jobInputSchema, jobSchema } from './schemas.js';

/** tools/list for clients that opted in, without the tools about operations. */
export function twoStageTools(engine: Engine): object[] {
  return engine.tools.values().map(renderTool);
}

function renderTool(tool: Tool): object {
  const { name, title, description, inputSchema, outputSchema, annotations, taskSupport } = tool;
  const hints = annotations === undefined ? {} : { annotations };
  if (taskSupport === 'forbidden')
    return { name, title, description, inputSchema, ...(outputSchema ? { outputSchema } : {}), ...hints };
  return {
    name,
    title,
    description: `${description}\n${howToFollow(tool)}`,
    async: true,
    inputSchema: jobInputSchema(tool),
    outputSchema: jobSchema,
    ...hints,
  };
}

function howToFollow({ keepAliveSeconds }: Tool): string {
  return [
    'Answers at once with a job_id and how long it will take; the work goes on whether or not anybody waits, and its result follows.',
    'operation_get with the job_id as token shows where it stands, operation_answer answers what it asks, operation_cancel ends it.',
    `Its result can be read for up to ${humanDuration(keepAliveSeconds)} after the end.`,
  ].join('\n');
}
