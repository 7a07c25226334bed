/** Longhaul's own tools: short, listed after the project's, and the same in every protocol. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Guard } from '../guard.js';
import type { OperationRecord } from '../../operations/record.js';
import { schemaSections } from '../../operations/documentation/describe.js';
import type { JsonSchema } from '../../operations/tool/schema.js';
import type { Tool } from '../../operations/tool/index.js';
import type { CallContext } from '../call/call-context.js';
import { looseSchema, shallowSchema } from '../listed-tools/schema.js';

export interface BuiltinTool {
  name: string;
  title: string;
  description: string;
  inputSchema: JsonSchema;
  /** Absent without structured content. */
  outputSchema?: JsonSchema;
  annotations: NonNullable<Tool['annotations']>;
  /**
   * @returns the result; or, for callers with `questions.kind` `result`, the operation whose question ends the call
   * @throws LonghaulError, which the protocol renders like any refused call
   */
  call(
    engine: Guard,
    callContext: CallContext,
    args: unknown,
  ): Promise<CallToolResult | { question: OperationRecord }>;
}

export function builtinToolDocumentation({
  name,
  description,
  inputSchema,
  outputSchema,
}: BuiltinTool): string {
  return [`# ${name}`, description, ...schemaSections(inputSchema, outputSchema)].join('\n\n');
}

/** The tool's entry in tools/list. The resource `longhaul://tools/{tool}` has the whole schemas. */
export function renderBuiltinTool(tool: BuiltinTool): Omit<BuiltinTool, 'call'> {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  return {
    name,
    title,
    description,
    inputSchema: looseSchema(inputSchema),
    ...(outputSchema ? { outputSchema: shallowSchema(outputSchema) } : {}),
    annotations,
  };
}
