/** Whether the server's answer to a mutated request is one that its protocol allows. */
import type { Exchange, RawResponse } from './exchange.js';
import { bodyOf, encode, type FuzzRequest } from './request.js';

export interface Verdict {
  /** Violations; empty for an allowed answer. */
  problems: string[];
  /** Operations that the answer says were started. */
  accepted: number;
  /** Operations that may have been started without an answer that says so. */
  unknown: number;
  /** Codes of JSON-RPC errors. */
  errorCodes: number[];
}

/** Every status that the documents name; 417 is Node's answer to an unknown Expect. */
const STATUSES = new Set([
  ...[200, 201, 202, 204, 206, 304, 400, 401, 403, 404, 405, 406, 408, 409, 410, 413, 415, 416, 417],
  ...[422, 429, 431, 503],
]);
const INTERNAL_ERROR = -32603;
/** Traces of the implementation that no answer may have. */
const LEAK = /node_modules|\bat [^\n]{1,200}\.[cm]?[jt]s:\d+:\d+/;
const INTERNAL = /internal error|"kind":"internal"|"type":"\/problems\/internal"/i;

/** Tools that start nothing. */
const READS =
  /"name":\s*"(operation_(get|list|answer|cancel|delete)|wait|register_and_wait|respond_and_wait|send_message|check_\w+|report_progress|dead_letters|bye)"/;

/** Whether the request can wait, or open a stream: then it may go unanswered for as long as this client is patient. */
export function canWait(request: FuzzRequest): boolean {
  return (
    request.isFramed === true ||
    request.bytes !== undefined ||
    /"wait|"timeout|wait=|wait_for|tasks\/result|subscriptions|\/events|last-event-id|and_wait/i.test(
      encode(request).toString('latin1'),
    )
  );
}

function canStart(request: FuzzRequest): boolean {
  const text = encode(request).toString('latin1');
  if (/^POST [^\n]*(\/v1\/|%)/i.test(text) || /\bPOST \S*jobs/.test(text)) return true;
  // Bytes may hold two requests, one of which reads.
  return text.includes('tools/call') && (request.bytes !== undefined || !READS.test(text));
}

export function verdictOn(request: FuzzRequest, exchange: Exchange, mayWait: boolean): Verdict {
  const verdict: Verdict = { problems: [], accepted: 0, unknown: 0, errorCodes: [] };
  const { responses, isCut, garbage } = exchange;
  const isBroken = request.bytes !== undefined || request.isFramed === true;
  if (garbage !== undefined) verdict.problems.push(`no HTTP response: ${JSON.stringify(garbage)}`);
  // A stream that a GET opens stays open.
  if (isCut && !mayWait && (responses.length === 0 || request.method === 'POST'))
    verdict.problems.push('no answer in time');
  if (responses.length === 0 && !isCut && !isBroken && request.method !== 'CONNECT')
    verdict.problems.push('closed without an answer');
  for (const response of responses) judge(request, response, isCut, verdict);
  if (canStart(request) && (responses.length === 0 || isCut)) verdict.unknown += 1;
  return verdict;
}

/** The same for a line of a server over stdio. @param lines those that it may answer */
export function verdictOnLine(line: string, lines: string[]) {
  const verdict: Verdict = { problems: [], accepted: 0, unknown: 0, errorCodes: [] };
  const body = Buffer.from(lines.join('\n'), 'latin1');
  judgeJson({ method: 'POST', target: '/mcp', headers: [], body }, 200, line, verdict);
  return { ...verdict, isResult: line.includes('"result":') };
}

function judge(request: FuzzRequest, response: RawResponse, isCut: boolean, verdict: Verdict): void {
  const { status, headers, body, isComplete } = response;
  const fail = (problem: string) => verdict.problems.push(`${status}: ${problem}`);
  const text = body.toString();
  const type = headers.get('content-type') ?? '';
  if (!STATUSES.has(status)) fail(`a status that no document names; ${text.slice(0, 300)}`);
  // A stream ends with the sending side of its client.
  const isEnded = (request.bytes !== undefined || request.isFramed) && type.startsWith('text/event-stream');
  if (!isComplete && !isCut && !isEnded) fail('the response broke off');
  const [leak] = LEAK.exec(text) ?? [];
  // The table of problems, which also comes percent-encoded, and the documentation of tools name the kind.
  if (status >= 400 && INTERNAL.test(text)) fail(`internal: ${text.slice(0, 300)}`);
  if (leak !== undefined && !encode(request).includes(leak)) fail(`it shows ${JSON.stringify(leak)}`);
  if (body.length === 0) return;
  if (type === '') fail('a body without Content-Type');
  if (type.startsWith('text/event-stream')) {
    const blocks = text.split('\n\n').slice(0, -1);
    for (const block of blocks) {
      const data = block
        .split('\n')
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(5).trim())
        .join('\n');
      if (data !== '') judgeJson(request, status, data, verdict);
    }
  } else if (/^application\/(problem\+)?json\b/.test(type)) {
    if (status !== 206 && isComplete) judgeJson(request, status, text, verdict);
  } else if (request.target.startsWith('/mcp') && status !== 404 && !request.bytes)
    fail(`Content-Type ${type}`);
  if (status >= 200 && status < 300 && canStart(request) && !text.includes('"jsonrpc"'))
    verdict.accepted += 1;
}

function judgeJson(request: FuzzRequest, status: number, text: string, verdict: Verdict): void {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    verdict.problems.push(`${status}: no JSON: ${text.slice(0, 300)}`);
    return;
  }
  const messages = (Array.isArray(value) ? value : [value]) as Record<string, any>[];
  for (const message of messages)
    if (message !== null && typeof message === 'object' && 'jsonrpc' in message)
      judgeMessage(request, status, message, verdict);
    else if (request.target === '/mcp' && request.bytes === undefined && !('type' in message))
      verdict.problems.push(`${status}: no JSON-RPC: ${text.slice(0, 300)}`);
}

function judgeMessage(
  request: FuzzRequest,
  status: number,
  message: Record<string, any>,
  verdict: Verdict,
): void {
  const fail = (problem: string) =>
    verdict.problems.push(`${status}: ${problem}: ${JSON.stringify(message).slice(0, 500)}`);
  const { jsonrpc, id, method, result, error } = message;
  if (jsonrpc !== '2.0') fail('jsonrpc is not 2.0');
  if ([method, result, error].filter((part) => part !== undefined).length !== 1)
    fail('neither a request nor a response');
  if (error !== undefined) {
    if (!Number.isInteger(error?.code) || typeof error?.message !== 'string') fail('a malformed error');
    else verdict.errorCodes.push(error.code);
    if (error?.code === INTERNAL_ERROR) fail('an internal error');
  }
  if (result?.isError === true && INTERNAL.test(JSON.stringify(result))) fail('an internal error');
  if (method === undefined && id !== null && !isIdOf(request, id))
    fail('an ID that the request does not have');
  if (result !== undefined && result.isError !== true && canStart(request)) verdict.accepted += 1;
}

/** Numbers can be written in several ways. */
function isJsonOf(value: unknown, written: string): boolean {
  try {
    return JSON.parse(written) === value;
  } catch {
    return false;
  }
}

function isIdOf(request: FuzzRequest, id: unknown): boolean {
  // A resumed stream has the answer to the request that it began with.
  if (/^GET .*^last-event-id:/ims.test(encode(request).toString('latin1'))) return true;
  const text = (request.bytes ?? bodyOf(request) ?? Buffer.alloc(0)).toString();
  try {
    const parsed = JSON.parse(text.slice(request.bytes ? text.indexOf('\r\n\r\n') + 4 : 0)) as unknown;
    return [parsed].flat().some((one) => (one as { id?: unknown } | null)?.id === id);
  } catch {
    return [...text.matchAll(/"id"\s*:\s*("(?:[^"\\]|\\.)*"|[^,}\s]+)/g)].some(([, written]) =>
      isJsonOf(id, written!),
    );
  }
}
