/** HTTP responses to requests at the MCP endpoint that are refused before a revision handles them. */
import { ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Context } from 'hono';
import { AuthenticationUnavailable, type Authentication } from './auth/index.js';
import { RETRY_AFTER_SECONDS } from './shutdown/index.js';
import { RateLimited } from './limits/index.js';
import { noteRpcError } from './metrics/requests.js';
import { asRpcError, type JsonRefusal } from './json/index.js';
import { idIn } from './json/message-problem.js';

/** Largest request body: 4 MiB. */
export const BODY_LIMIT_BYTES = 4 * 1024 * 1024;
export const MCP_METHODS = 'GET, HEAD, POST';

/** A JSON-RPC error response, counted in metrics. */
export function rpcError(id: string | number | null, code: number, message: string, data?: unknown) {
  noteRpcError();
  return { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}

/** No valid credential: 401, 429 or 503. */
export function unauthenticated(c: Context, authentication: Authentication, error: unknown): Response {
  if (error instanceof RateLimited) return beyondLimit(c, error);
  if (!(error instanceof AuthenticationUnavailable)) return authentication.challenge(error);
  return c.json(rpcError(null, ProtocolErrorCode.InternalError, error.message), 503, {
    'Retry-After': String(RETRY_AFTER_SECONDS),
  });
}

/** A request beyond a limit: 429. */
export function beyondLimit(
  c: Context,
  { kind, message, retryable, retryAfterSeconds }: RateLimited,
): Response {
  const error = rpcError(null, -32000, message, { kind, retryable, retryAfterSeconds });
  return c.json(error, 429, { 'Retry-After': String(retryAfterSeconds) });
}

/** GET is only for sessions of 2025-11-25 and earlier. DELETE isn't supported: sessions expire by themselves. */
export function methodNotAllowed(c: Context): Response {
  return c.json(rpcError(null, -32000, 'Method not allowed.'), 405, { Allow: MCP_METHODS });
}

export function unsupportedMediaType(c: Context, detail: string): Response {
  return c.json(rpcError(null, -32000, `Unsupported Media Type: ${detail}`), 415);
}

export function tooLarge(c: Context): Response {
  return c.json(rpcError(null, -32000, `the request body is over ${BODY_LIMIT_BYTES} bytes`), 413);
}

export function parseError(c: Context): Response {
  const message = 'Parse error: the request body is not valid JSON in UTF-8';
  return c.json(rpcError(null, ProtocolErrorCode.ParseError, message), 400);
}

/** For JSON that isn't a JSON-RPC message. */
export function invalidMessage(c: Context, body: unknown, problem: string): Response {
  const { InvalidRequest } = ProtocolErrorCode;
  return c.json(rpcError(idIn(body), InvalidRequest, `Invalid Request: ${problem}`), 400);
}

export function refusedJson(c: Context, refusal: JsonRefusal): Response {
  const { code, message } = asRpcError(refusal);
  return c.json(rpcError(refusal.id, code, message), 400);
}
