/** Errors of the engine's verbs as JSON-RPC errors, where a face has no words of its own for them. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { LonghaulError } from '../operations/errors.js';

/** -32603 for what went wrong here, -32602 for what the request got wrong. @param message Default: the error's own */
export function asProtocolError(
  { kind, message: own, retryable }: LonghaulError,
  message = own,
): ProtocolError {
  const isOurs = kind === 'unavailable' || kind === 'internal';
  const code = isOurs ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams;
  return new ProtocolError(code, message, { kind, retryable });
}
