/** An operation's outcome as the result of a tool call, for every MCP face. */
import type { CallToolResult, ContentBlock, ResourceLink } from '@modelcontextprotocol/server';
import type { ErrorKind, LonghaulError } from '../../operations/errors.js';
import { ERROR_META_KEY, TEXT_META_KEY } from '../../operations/meta-keys.js';
import type { OperationRecord } from '../../operations/record.js';
import type { Tool } from '../../operations/tool.js';
import type { SERVER_STOPPING } from '../lifecycle/shutdown.js';
import { asData } from './as-data.js';
import { artifactLinks, linksIn, resourceLink, resultUri } from './resource-links.js';

/** Results over this size are linked to and not inlined, in bytes of JSON: 1 MiB. */
export const INLINE_RESULT_BYTES = 1024 * 1024;
/** Most links to files in one result. */
const MAX_LINKS = 50;
/** How much of a partial result is shown beside an error, in characters. */
const PARTIAL_CHARACTERS = 4_000;

/** The result of a completed operation, as structured content and as text. */
export function renderResult(record: OperationRecord, tool: Tool | undefined): CallToolResult {
  const { result } = record;
  const isObject = typeof result === 'object' && result !== null && !Array.isArray(result);
  return {
    content: [{ type: 'text', text: resultText(record, tool) }, ...linksOf(record)],
    ...(isObject && !resultLink(record) ? { structuredContent: result } : {}),
  };
}

/** The result of an operation that did not complete: what went wrong, and what had been finished. */
export function renderFailure(record: OperationRecord): CallToolResult {
  const { error } = record;
  const { why, data } = failureParts(record);
  return {
    content: [{ type: 'text', text: failureText(record) }, ...linksOf(record)],
    isError: true,
    _meta: {
      ...errorMeta(error?.kind ?? 'failed', error?.retryable ?? false),
      ...(data ? { [TEXT_META_KEY]: `${why}\n${data}` } : {}),
    },
  };
}

/** The result of a completed operation as its tool's author would have it read; of a large one only its size. */
export function resultText({ result }: OperationRecord, tool: Tool | undefined): string {
  const json = JSON.stringify(result) ?? 'null';
  const bytes = Buffer.byteLength(json);
  if (bytes > INLINE_RESULT_BYTES)
    return `The result has ${(bytes / 1024 / 1024).toFixed(1)} MiB, too much to show here. Read it under the link, or ask for less.`;
  if (!tool) return json;
  try {
    return tool.toText(result);
  } catch {
    // The text is a courtesy of the tool's author; the result itself stands.
    return json;
  }
}

/** What went wrong in a line; what commands and failures have said, and what had been finished, as data. */
export function failureText(record: OperationRecord): string {
  const { why, data } = failureParts(record);
  return data ? `${why}\n${asData(data)}` : why;
}

function failureParts({ status, error, partial }: OperationRecord): { why: string; data: string } {
  const [why = '', ...more] = (error?.message ?? status).split('\n');
  if (error?.cause) more.push(`Caused by: ${error.cause}`);
  if (partial !== undefined) {
    const text = JSON.stringify(partial, null, 2);
    const shown = text.length > PARTIAL_CHARACTERS ? `${text.slice(0, PARTIAL_CHARACTERS)} ...` : text;
    more.push('', 'Finished before that:', shown);
  }
  return { why, data: more.join('\n').trim() };
}

/**
 * A problem of the call itself, as a result that a model can read and act on (specs: 2026-07-28 server/tools, "Error
 * Handling").
 *
 * @param advice what to do next, by kind. Default: that of operations
 */
export function renderRefusal(
  { kind, message, retryable }: LonghaulError,
  advice: Partial<Record<ErrorKind, string>> = ADVICE,
): CallToolResult {
  const texts = [message, ...(advice[kind] === undefined ? [] : [advice[kind]])];
  return {
    // Apart, so that programs can leave the advice out.
    content: texts.map((text) => ({ type: 'text', text })),
    isError: true,
    _meta: errorMeta(kind, retryable),
  };
}

/** What to do next, where the message doesn't say it. */
const ADVICE: Partial<Record<ErrorKind, string>> = {
  invalid_arguments: 'Nothing was done. Mend the call and try again.',
  not_found: 'operation_list shows which operations there are.',
  expired: 'Results are kept for a limited time. Call the tool again if it is still needed.',
  wrong_state: 'operation_get shows where it stands.',
  invalid_answer: 'The question is still open. Mend the answer and try again.',
  unavailable:
    'What runs goes on. Try again shortly; a start with the same idempotency_key, if it had one, else operation_list shows first whether it has begun.',
};

/** What programs are told of an error beside its text. */
export function errorMeta(
  kind: ErrorKind | typeof SERVER_STOPPING,
  retryable: boolean,
): Record<string, unknown> {
  return { [ERROR_META_KEY]: { kind, retryable } };
}

/** Link to a result that is too large to be inlined. */
export function resultLink({ token, result }: OperationRecord): ResourceLink | undefined {
  const bytes = Buffer.byteLength(JSON.stringify(result) ?? '');
  return bytes > INLINE_RESULT_BYTES ? resourceLink(resultUri(token), 'result.json', bytes) : undefined;
}

/** Links to a large result, and to the files that the operation has left, as far as its result or its jobs name them. */
export function linksOf(record: OperationRecord): ContentBlock[] {
  const large = resultLink(record);
  const files = fileLinks(record);
  const shown = [...(large ? [large] : []), ...files.slice(0, MAX_LINKS)];
  if (files.length <= MAX_LINKS) return shown;
  const call = `operation_get ${JSON.stringify({ token: record.token, view: 'steps' })}`;
  return [...shown, { type: 'text', text: `${files.length - MAX_LINKS} more files: ${call}` }];
}

/** The links that structured content has to name because its result doesn't, at most {@link MAX_LINKS}. */
export function linksNotInResult(record: OperationRecord, hasResult: boolean): ResourceLink[] {
  const large = resultLink(record);
  const files = hasResult ? artifactLinks(record, record.children ?? []) : fileLinks(record);
  return [...(large ? [large] : []), ...files].slice(0, MAX_LINKS);
}

function fileLinks(record: OperationRecord): ResourceLink[] {
  return [...linksIn(record.result), ...artifactLinks(record, record.children ?? [])];
}
