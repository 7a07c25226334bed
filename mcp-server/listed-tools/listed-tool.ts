/** Entries of tools/list and tool documentation, as far as the protocols share them. */
import { documentationMarkdown, type ProtocolLines } from '../../operations/documentation/describe.js';
import type { JsonSchema } from '../../operations/tool/schema.js';
import { PROBLEMS_META_KEY } from '../../operations/wire/meta-keys.js';
import type { Tool } from '../../operations/tool/index.js';
import type { Guard } from '../guard.js';
import { withKeyProperty } from '../call/idempotency-key.js';
import { listedSchema } from './schema.js';
import type { RequestCancellation } from '../call/serving.js';

export interface ListedTool {
  name: string;
  title: string;
  description: string;
  inputSchema: JsonSchema;
  outputSchema?: JsonSchema;
  annotations?: NonNullable<Tool['annotations']>;
  /** SEP-1391. */
  invocationMode?: 'async' | 'sync';
  /** Two-stage returns. */
  async?: true;
}

/** The parts of a tool's documentation that depend on the protocol. */
export type DocumentTool = (tool: Tool, cancelledBy: RequestCancellation) => ProtocolLines;

/** A tool with its own schemas and `idempotency_key`. @param use last line of its description: how to use it over the protocol */
export function listedTool(tool: Tool, use?: string): ListedTool {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  return {
    name,
    title,
    description: use === undefined ? description : `${description}\n${use}`,
    inputSchema: withKeyProperty(listedSchema(inputSchema)),
    ...(outputSchema ? { outputSchema: listedSchema(outputSchema) } : {}),
    ...(annotations ? { annotations } : {}),
  };
}

/** A tool whose calls always wait for the result, so there is nothing to follow. */
export function shortTool(tool: Tool): ListedTool {
  return listedTool(tool, `Answers with its result, within ${tool.timeoutSeconds} s.`);
}

export function toolDocumentation(
  tool: Tool,
  document: DocumentTool,
  cancelledBy: RequestCancellation,
): string {
  const lines = tool.taskSupport === 'forbidden' ? shortLines(tool) : document(tool, cancelledBy);
  return documentationMarkdown(tool, lines);
}

function shortLines({ timeoutSeconds }: Tool): ProtocolLines {
  return {
    states: 'No states: the call returns the result, or isError.',
    following: `Nothing to poll: it waits, for ${timeoutSeconds} s at most.`,
    cancel: 'The end of the call cancels nothing.',
    example: (result) => result,
  };
}

/** The `_meta` of tools/list: problems of tool files that couldn't be loaded. Empty without any. */
export function problemsMeta({ tools }: Pick<Guard, 'tools'>): { _meta?: Record<string, string[]> } {
  const problems = tools.problems();
  return problems.length > 0 ? { _meta: { [PROBLEMS_META_KEY]: problems } } : {};
}
