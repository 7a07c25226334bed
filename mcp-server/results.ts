/** An operation's outcome as the result of a tool call, for every MCP face. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { OperationRecord } from '../operations/record.js';
import type { Tool } from '../operations/tool.js';

/** Results over this size are linked to and not inlined, in bytes of JSON: 1 MiB. */
export const INLINE_RESULT_BYTES = 1024 * 1024;
/** How much of a partial result is shown beside an error, in characters. */
const PARTIAL_CHARACTERS = 4_000;

/** The result of a completed operation, as structured content and as text. */
export function renderResult(record: OperationRecord, tool: Tool | undefined): CallToolResult {
  const { result } = record;
  const json = JSON.stringify(result) ?? 'null';
  const bytes = Buffer.byteLength(json);
  if (bytes > INLINE_RESULT_BYTES) {
    const size = `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
    return {
      content: [
        {
          type: 'text',
          text: `The result has ${size}, too much to show here. Read it under the link, or ask for less.`,
        },
        {
          type: 'resource_link',
          uri: resultUri(record.token),
          name: 'result.json',
          mimeType: 'application/json',
          size: bytes,
        },
      ],
    };
  }
  const isObject = typeof result === 'object' && result !== null && !Array.isArray(result);
  return {
    content: [{ type: 'text', text: textOf(result, json, tool) }],
    ...(isObject ? { structuredContent: result } : {}),
  };
}

/** The result of an operation that did not complete: what went wrong, and what had been finished. */
export function renderFailure(record: OperationRecord): CallToolResult {
  const { error, partial } = record;
  const lines = [error?.message ?? record.status];
  if (error?.cause) lines.push(`Caused by: ${error.cause}`);
  if (partial !== undefined) {
    const text = JSON.stringify(partial, null, 2);
    lines.push(
      '',
      'Finished before that:',
      text.length > PARTIAL_CHARACTERS ? `${text.slice(0, PARTIAL_CHARACTERS)} ...` : text,
    );
  }
  return {
    content: [{ type: 'text', text: lines.join('\n') }],
    isError: true,
    _meta: { 'longhaul/error': { kind: error?.kind ?? 'failed', retryable: error?.retryable ?? false } },
  };
}

/** Resource that a large result is read from. */
export function resultUri(token: string): string {
  return `longhaul://operations/${encodeURIComponent(token)}/result`;
}

function textOf(result: unknown, json: string, tool: Tool | undefined): string {
  if (!tool) return json;
  try {
    return tool.toText(result);
  } catch {
    // The text is a courtesy of the tool's author; the result itself stands.
    return json;
  }
}
