/** An operation's outcome as a tool call's result, for every MCP protocol. */
import type { CallToolResult, ContentBlock, ResourceLink } from '@modelcontextprotocol/server';
import {
  LonghaulError,
  unreadableText,
  type ErrorKind,
  type OperationError,
} from '../../operations/errors.js';
import { isObject } from '../../operations/json/is-object.js';
import { ERROR_META_KEY, operationMeta, TEXT_META_KEY } from '../../operations/wire/meta-keys.js';
import type { OperationRecord } from '../../operations/record.js';
import type { Tool } from '../../operations/tool/index.js';
import { LostValueError } from '../../platform/storage/index.js';
import type { SERVER_STOPPING } from '../shutdown/index.js';
import { asData } from './as-data.js';
import { artifactLinks, linksIn, partialUri, resourceLink, resultUri } from '../links/resource-links.js';

/** Results above 1 MiB of JSON are linked, not inlined. */
export const INLINE_RESULT_BYTES = 1024 * 1024;
const MAX_LINKS = 50;
const PARTIAL_CHARACTERS = 4_000;
const PARTIAL_FILE = 'partial.json';

/** @throws LonghaulError `unavailable` while storage can't read the result, `internal` if the result is lost */
export function assertResultReadable({ resultProblem }: OperationRecord): void {
  if (resultProblem) throw unreadable('the result', resultProblem);
}

/** @throws LonghaulError `unavailable` if storage, or a worker without storage, doesn't answer; `internal` if it is lost */
export function assertPartialReadable(record: OperationRecord): void {
  const { status, partial, isPartialLarge, resultProblem } = record;
  if (partial !== undefined || status === 'completed') return;
  if (resultProblem) throw unreadable('the partial result', resultProblem);
  if (isPartialLarge)
    throw unreadable('the partial result', {
      kind: 'unavailable',
      message: 'it is large, and neither storage nor a worker that holds it answers',
      retryable: true,
    });
}

function unreadable(value: string, problem: OperationError): LonghaulError {
  const text = unreadableText(value, problem);
  return problem.retryable ? new LonghaulError(problem.kind, text) : new LostValueError(text);
}

/** The result of a completed operation, as structured content and as text. @throws LonghaulError as {@link assertResultReadable} */
export function renderResult(record: OperationRecord, tool: Tool | undefined): CallToolResult {
  assertResultReadable(record);
  const { result } = record;
  return {
    content: [{ type: 'text', text: resultText(record, tool) }, ...linksOf(record)],
    ...(isObject(result) && !resultLink(record) ? { structuredContent: result } : {}),
  };
}

export function renderFailure(record: OperationRecord): CallToolResult {
  const { error } = record;
  const text = failureOf(record);
  return {
    content: [{ type: 'text', text: asData(text) }, ...linksOf(record)],
    isError: true,
    _meta: {
      ...errorMeta(error?.kind ?? 'failed', error?.retryable ?? false),
      [TEXT_META_KEY]: text,
      ...operationMeta(record),
    },
  };
}

/** A completed operation's result by the tool's `toText`. For a large result, only its size. */
export function resultText({ result }: OperationRecord, tool: Tool | undefined): string {
  const json = JSON.stringify(result) ?? 'null';
  const bytes = Buffer.byteLength(json);
  if (bytes > INLINE_RESULT_BYTES)
    return `The result has ${(bytes / 1024 / 1024).toFixed(1)} MiB, too much to show here. Read it at the link, or ask for less.`;
  return (tool && textOf(tool, result)) ?? json;
}

/** The author's text; undefined if `toText` gives none, which doesn't affect the result. */
function textOf(tool: Tool, result: unknown): string | undefined {
  try {
    const text: unknown = tool.toText(result);
    if (typeof text === 'string' && text !== '') return text;
    warnOnce(tool, `expected text; got ${text === '' ? 'an empty one' : typeof text}`);
  } catch (error) {
    warnOnce(tool, String(error));
  }
  return undefined;
}

const warned = new Set<string>();

function warnOnce({ name }: Tool, problem: string): void {
  if (warned.has(name)) return;
  warned.add(name);
  process.emitWarning(
    `tool ${JSON.stringify(name)}: toText: ${problem}; the JSON of the result is shown instead`,
  );
}

/** The failure, the commands' output, causes and the partial result, as data. */
export function failureText(record: OperationRecord): string {
  return asData(failureOf(record));
}

function failureOf({ status, error, partial }: OperationRecord): string {
  const [why = '', ...more] = (error?.message ?? status).split('\n');
  if (error?.cause) more.push(`Caused by: ${error.cause}`);
  if (partial !== undefined) {
    const text = partialText(partial);
    const isCut = text.length > PARTIAL_CHARACTERS;
    more.push('', `Finished before that${isCut ? ' (its beginning; all of it at the link)' : ''}:`);
    more.push(isCut ? `${text.slice(0, PARTIAL_CHARACTERS)} ...` : text);
  }
  const data = more.join('\n').trim();
  return data ? `${why}\n${data}` : why;
}

function partialText(partial: unknown): string {
  return JSON.stringify(partial, null, 2);
}

/**
 * A problem of the call itself, as a result that a model can read and act on (specs: 2026-07-28 server/tools, "Error Handling").
 *
 * @param advice next steps by kind. Default: those for operations
 */
export function renderRefusal(
  { kind, message, retryable, retryAfterSeconds }: LonghaulError,
  advice: Partial<Record<ErrorKind, string>> = ADVICE,
): CallToolResult {
  const texts = [message, ...(advice[kind] === undefined ? [] : [advice[kind]])];
  return {
    // Separate blocks, so programs can omit the advice.
    content: texts.map((text) => ({ type: 'text', text })),
    isError: true,
    _meta: errorMeta(kind, retryable, retryAfterSeconds),
  };
}

/** Shared with the mailbox's tools. */
export const INVALID_ARGUMENTS_ADVICE = 'Nothing was done. Correct the call and try again.';

/** Next steps for errors whose message has none. */
const ADVICE: Partial<Record<ErrorKind, string>> = {
  invalid_arguments: INVALID_ARGUMENTS_ADVICE,
  not_found: 'operation_list shows your operations.',
  forbidden: 'Ask the administrator of the policy of this server for a role that may.',
  expired: 'Results are kept for a limited time. Call the tool again if it is still needed.',
  wrong_state: 'operation_get shows its state.',
  invalid_answer: 'The question is still open. Correct the answer and try again.',
  rate_limited: 'Nothing was started. Wait that long, then repeat the call.',
  unavailable:
    'Running work continues. Try again shortly; repeat a start with the same idempotency_key, or if it had none, check operation_list first.',
};

export function errorMeta(
  kind: ErrorKind | typeof SERVER_STOPPING,
  retryable: boolean,
  retryAfterSeconds?: number,
): Record<string, unknown> {
  return { [ERROR_META_KEY]: { kind, retryable, retryAfterSeconds } };
}

export function resultLink({ token, result }: OperationRecord): ResourceLink | undefined {
  return linkIfLarge(result, resultUri(token), 'result.json');
}

export function partialLink({ token, partial }: OperationRecord): ResourceLink | undefined {
  return linkIfLarge(partial, partialUri(token), PARTIAL_FILE);
}

function linkIfLarge(value: unknown, uri: string, name: string): ResourceLink | undefined {
  const bytes = Buffer.byteLength(JSON.stringify(value) ?? '');
  return bytes > INLINE_RESULT_BYTES ? resourceLink(uri, name, bytes) : undefined;
}

/** Link to what an outcome's texts don't show whole: a large result, or a failure's partial result. */
function outcomeLink(record: OperationRecord): ResourceLink | undefined {
  const { token, error, partial } = record;
  if (!error || partial === undefined) return resultLink(record);
  if (partialText(partial).length <= PARTIAL_CHARACTERS) return undefined;
  return resourceLink(partialUri(token), PARTIAL_FILE, Buffer.byteLength(JSON.stringify(partial)));
}

/** Links to the outcome and to files that the result or the jobs name, and a failed run's address for people. */
export function linksOf(record: OperationRecord): ContentBlock[] {
  const large = outcomeLink(record);
  const files = fileLinks(record);
  const shown: ContentBlock[] = [...(large ? [large] : []), ...files.slice(0, MAX_LINKS)];
  // Not a resource_link: clients would try to read it from this server.
  const { temporalUrl, resultNote } = record;
  if (resultNote !== undefined) shown.push({ type: 'text', text: asData(resultNote) });
  if (temporalUrl !== undefined) shown.push({ type: 'text', text: `Temporal's UI: ${temporalUrl}` });
  if (files.length <= MAX_LINKS) return shown;
  const call = `operation_get ${JSON.stringify({ token: record.token, view: 'steps' })}`;
  return [...shown, { type: 'text', text: `${files.length - MAX_LINKS} more files: ${call}` }];
}

/** Links to resources that the structured result doesn't name, at most {@link MAX_LINKS}. */
export function linksNotInResult(record: OperationRecord, hasResult: boolean): ResourceLink[] {
  const large = record.error ? partialLink(record) : resultLink(record);
  const files = hasResult ? artifactLinks(record) : fileLinks(record);
  return [...(large ? [large] : []), ...files].slice(0, MAX_LINKS);
}

function fileLinks(record: OperationRecord): ResourceLink[] {
  const value = record.error ? record.partial : record.result;
  return [...linksIn(value), ...artifactLinks(record)];
}
