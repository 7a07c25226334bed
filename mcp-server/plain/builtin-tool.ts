/** A tool of Longhaul's own: short, listed beside the project's, and the same on every face, for which it answers itself. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Engine } from '../../engine/index.js';
import type { OperationRecord } from '../../operations/record.js';
import type { JsonSchema } from '../../operations/schema.js';
import type { Tool } from '../../operations/tool.js';
import type { Caller } from '../shared/caller.js';

export interface BuiltinTool {
  name: string;
  title: string;
  description: string;
  inputSchema: JsonSchema;
  /** Missing where the answer is text alone. */
  outputSchema?: JsonSchema;
  annotations: NonNullable<Tool['annotations']>;
  /**
   * @returns the result; or the operation whose question ends the call, for callers whose calls can end so
   * @throws LonghaulError, which the face renders as it does the refusal of any call
   */
  call(
    engine: Engine,
    caller: Caller,
    args: unknown,
  ): Promise<CallToolResult | { question: OperationRecord }>;
}

/** The tool as tools/list has it. */
export function renderBuiltinTool(tool: BuiltinTool): Omit<BuiltinTool, 'call'> {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  return {
    name,
    title,
    description,
    inputSchema,
    ...(outputSchema ? { outputSchema } : {}),
    annotations,
  };
}
