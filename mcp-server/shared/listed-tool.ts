/** Entries of tools/list, as far as the protocols have them in common. */
import {
  describeForProtocol,
  exampleInputJson,
  exampleResultJson,
  type ProtocolLines,
} from '../../operations/documentation/describe.js';
import type { JsonSchema } from '../../operations/schema.js';
import { PROBLEMS_META_KEY } from '../../operations/meta-keys.js';
import type { Tool } from '../../operations/tool.js';
import type { Engine } from '../../engine/index.js';
import { KEY_LINE, withKeyProperty } from './idempotency-key.js';

export interface ListedTool {
  name: string;
  title: string;
  description: string;
  inputSchema: JsonSchema;
  outputSchema?: JsonSchema;
  annotations?: NonNullable<Tool['annotations']>;
}

/** A tool with its own schemas, `idempotency_key`, and the protocol's lines about its use. */
export function listedTool(tool: Tool, lines: ProtocolLines): ListedTool {
  const { name, title, inputSchema, outputSchema, annotations } = tool;
  return {
    name,
    title,
    description: describeForProtocol(tool, lines),
    inputSchema: withKeyProperty(inputSchema),
    ...(outputSchema ? { outputSchema } : {}),
    ...(annotations ? { annotations } : {}),
  };
}

/** A tool whose calls all wait for the result, so that no protocol has anything to follow. */
export function shortTool(tool: Tool): ListedTool {
  const { name, timeoutSeconds, example } = tool;
  return listedTool(tool, {
    states: 'No states: the call returns the result, or isError.',
    following: `Nothing to poll: it waits, for ${timeoutSeconds} s at most.`,
    cancel: 'The end of the call cancels nothing.',
    idempotency: KEY_LINE,
    rates: 'No rate limits.',
    example: `Example: ${name} ${exampleInputJson(example)} -> ${exampleResultJson(example)}`,
  });
}

/** The `_meta` of tools/list: problems of files that couldn't be loaded as tools; empty if there are none. */
export function problemsMeta({ tools }: Pick<Engine, 'tools'>): { _meta?: Record<string, string[]> } {
  const problems = tools.problems();
  return problems.length > 0 ? { _meta: { [PROBLEMS_META_KEY]: problems } } : {};
}
