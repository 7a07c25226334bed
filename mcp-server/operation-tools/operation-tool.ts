/**
 * Tools about operations: short ones, that every face lists beside the long ones and that answer at once. What they
 * take and give is the same on each.
 */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import type { Engine } from '../../engine/index.js';
import { LonghaulError } from '../../operations/errors.js';
import { check, toJsonSchema, withDefaults, type JsonSchema } from '../../operations/schema.js';
import { OPERATION_TOOL_PREFIX, type Tool } from '../../operations/tool.js';

export interface OperationTool {
  name: string;
  title: string;
  description: string;
  inputSchema: JsonSchema;
  outputSchema: JsonSchema;
  annotations: NonNullable<Tool['annotations']>;
  /** @throws LonghaulError, which the face renders as it does the refusal of any call */
  call(engine: Engine, principal: string, args: unknown): Promise<CallToolResult>;
}

interface Definition<Input extends z.ZodObject, Output extends z.ZodObject> {
  /** Behind the prefix. */
  name: string;
  title: string;
  description: string;
  annotations: NonNullable<Tool['annotations']>;
  input: Input;
  output: Output;
  /** @returns the result, and how it reads as text */
  run: (
    engine: Engine,
    principal: string,
    input: z.output<Input>,
  ) => Promise<{ text: string; output: z.output<Output> }>;
}

/** Defines one. Its results are what its output schema says by their type. */
export function defineOperationTool<Input extends z.ZodObject, Output extends z.ZodObject>({
  name,
  input,
  output,
  run,
  ...rest
}: Definition<Input, Output>): OperationTool {
  const inputSchema = toJsonSchema(input);
  return {
    ...rest,
    name: OPERATION_TOOL_PREFIX + name,
    inputSchema,
    outputSchema: toJsonSchema(output, 'output'),
    async call(engine, principal, args) {
      const filled = withDefaults(inputSchema, args ?? {});
      const problems = check(inputSchema, filled, 'arguments');
      if (problems.length) throw new LonghaulError('invalid_arguments', problems.join('\n'));
      const result = await run(engine, principal, filled as z.output<Input>);
      return { content: [{ type: 'text', text: result.text }], structuredContent: result.output };
    },
  };
}
