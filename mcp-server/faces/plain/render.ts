/** Long tools as plain ones: what clients without tasks are told of them. */
import type { Engine } from '../../../engine/index.js';
import { humanDuration } from '../../../operations/budgets.js';
import type { JsonSchema } from '../../../operations/schema.js';
import type { Tool } from '../../../operations/tool.js';
import { envelopeSchemaOf } from '../../envelope.js';
import { plainInputSchema } from './schemas.js';

/** A tool as tools/list has it. */
export interface ListedTool {
  name: string;
  title: string;
  description: string;
  inputSchema: JsonSchema;
  outputSchema?: JsonSchema;
  annotations?: NonNullable<Tool['annotations']>;
}

/** The tools, without those about operations. */
export function plainTools(engine: Engine): ListedTool[] {
  return engine.tools.values().map(renderTool);
}

function renderTool(tool: Tool): ListedTool {
  const { name, title, description, inputSchema, outputSchema, annotations, taskSupport } = tool;
  const hints = annotations === undefined ? {} : { annotations };
  if (taskSupport === 'forbidden')
    return { name, title, description, inputSchema, ...(outputSchema ? { outputSchema } : {}), ...hints };
  return {
    name,
    title,
    description: `${description}\n${howToFollow(tool)}`,
    inputSchema: plainInputSchema(tool),
    outputSchema: envelopeSchemaOf(tool),
    ...hints,
  };
}

function howToFollow({ wait, keepAliveSeconds }: Tool): string {
  return [
    wait
      ? 'Waits for the result, and gives a token when that takes longer than timeout; with wait false gives it at once.'
      : 'Gives a token at once, and the work goes on. With wait true it waits for the result, for timeout seconds at most.',
    'Then call what next_action says, not before check_after_seconds have passed: operation_get with the token, until the status is completed, failed, cancelled, errored (timed out) or expired. input_required: answer with operation_answer.',
    'operation_cancel ends the work at any time; what is finished stays. A wait that ends cancels nothing.',
    'The same idempotency_key gives the same operation, so a call may be repeated. Errors say whether they are retryable.',
    `Results can be read for up to ${humanDuration(keepAliveSeconds)} after the end. Lost the token? operation_list.`,
  ].join('\n');
}
