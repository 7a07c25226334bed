/** Long tools as plain ones: what clients without tasks are told of them. */
import type { Engine } from '../../../engine/index.js';
import type { JsonSchema } from '../../../operations/schema.js';
import type { Tool } from '../../../operations/tool.js';
import { envelopeSchemaOf } from '../../envelope.js';
import { plainDescription } from './description.js';
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
  const { name, title, inputSchema, outputSchema, annotations, taskSupport } = tool;
  const hints = annotations === undefined ? {} : { annotations };
  const description = plainDescription(tool);
  if (taskSupport === 'forbidden')
    return { name, title, description, inputSchema, ...(outputSchema ? { outputSchema } : {}), ...hints };
  return {
    name,
    title,
    description,
    inputSchema: plainInputSchema(tool),
    outputSchema: envelopeSchemaOf(tool),
    ...hints,
  };
}
