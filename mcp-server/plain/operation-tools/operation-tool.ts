/** Definition of the operation_* tools: short tools, the same in every protocol. Only operation_get can wait, on request. */
import type { ContentBlock } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Guard } from '../../guard.js';
import { LonghaulError } from '../../../operations/errors.js';
import type { OperationRecord } from '../../../operations/record.js';
import { check, toJsonSchema, withDefaults } from '../../../operations/tool/schema.js';
import { OPERATION_TOOL_PREFIX, type Tool } from '../../../operations/tool/index.js';
import type { CallContext } from '../../call/call-context.js';
import { openSchema } from '../../listed-tools/schema.js';
import { withoutNulls } from '../schemas.js';
import type { BuiltinTool } from '../builtin-tool.js';

export const token = z.string().min(1).max(1000);

export const reference = z.string().min(1).max(1000);

/** @throws LonghaulError `invalid_arguments` */
export function refuse(message: string): never {
  throw new LonghaulError('invalid_arguments', message);
}

/** A tool call as text that a model can copy. */
export function callText(tool: string, args: object): string {
  return `${tool} ${JSON.stringify(args)}`;
}

interface Definition<Input extends z.ZodObject, Output extends z.ZodObject> {
  /** Name without the prefix `operation_`. */
  name: string;
  title: string;
  description: string;
  annotations: NonNullable<Tool['annotations']>;
  input: Input;
  output: Output;
  run: (
    engine: Guard,
    callContext: CallContext,
    input: z.output<Input>,
  ) => Promise<ToolAnswer<z.output<Output>> | { question: OperationRecord }>;
}

export interface ToolAnswer<Output> {
  output: Output;
  text: string;
  /** Content blocks after the text: links. */
  extraContent?: ContentBlock[];
  /** Whether the answer is the outcome of failed work. Default: false. */
  isError?: boolean;
  /** The result's `_meta`, for programs. */
  meta?: Record<string, unknown>;
}

/** Types ensure that the tool's results match its output schema. */
export function defineOperationTool<Input extends z.ZodObject, Output extends z.ZodObject>({
  name,
  input,
  output,
  run,
  ...rest
}: Definition<Input, Output>): BuiltinTool {
  const inputSchema = toJsonSchema(input);
  return {
    ...rest,
    name: OPERATION_TOOL_PREFIX + name,
    inputSchema,
    outputSchema: openSchema(toJsonSchema(output, 'output')),
    async call(engine, callContext, args) {
      const filled = withDefaults(
        inputSchema,
        withoutNulls(inputSchema, (args ?? {}) as Record<string, unknown>),
      );
      const problems = check(inputSchema, filled, 'arguments');
      if (problems.length) throw new LonghaulError('invalid_arguments', problems.join('\n'));
      const answer = await run(engine, callContext, filled as z.output<Input>);
      if ('question' in answer) return answer;
      return {
        content: [{ type: 'text', text: answer.text }, ...(answer.extraContent ?? [])],
        structuredContent: answer.output,
        ...(answer.isError ? { isError: true } : {}),
        _meta: answer.meta,
      };
    },
  };
}
