/** Errors of the engine as JSON-RPC errors, for methods whose protocol defines no errors of its own. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { LonghaulError } from '../../operations/errors.js';

/**
 * -32603 for errors of the server, -32602 for errors of the request (specs: 2026-07-28 basic, "Error Codes"; for resources:
 * server/resources, "Error Handling"). Other errors pass through.
 *
 * @param options.message Default: the error's own
 * @param options.data further members of the error's data
 */
export function asProtocolError(error: unknown, options: { message?: string; data?: object } = {}): Error {
  if (!(error instanceof LonghaulError)) return error as Error;
  const { kind, message, retryable } = error;
  const isOurs = kind === 'unavailable' || kind === 'internal';
  const code = isOurs ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams;
  return new ProtocolError(code, options.message ?? message, { ...options.data, kind, retryable });
}
