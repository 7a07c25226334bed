/** Errors of the engine's verbs as JSON-RPC errors, where a face has no words of its own for them. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { LonghaulError } from '../../operations/errors.js';

/**
 * -32603 for what went wrong here, -32602 for what the request got wrong (specs: 2026-07-28 basic, "Error Codes"; of resources:
 * server/resources, "Error Handling"). What is no such error stays as it is.
 *
 * @param options.message Default: the error's own
 * @param options.data what else the error's data holds
 */
export function asProtocolError(error: unknown, options: { message?: string; data?: object } = {}): Error {
  if (!(error instanceof LonghaulError)) return error as Error;
  const { kind, message, retryable } = error;
  const isOurs = kind === 'unavailable' || kind === 'internal';
  const code = isOurs ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams;
  return new ProtocolError(code, options.message ?? message, { ...options.data, kind, retryable });
}
