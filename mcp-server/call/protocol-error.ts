/** JSON-RPC errors, also for the engine's errors in methods whose protocol defines no errors of its own. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { isKind, LonghaulError } from '../../operations/errors.js';

/**
 * -32603 for errors of the server, -32602 for errors of the request (specs: 2026-07-28 basic, "Error Codes"; for resources:
 * server/resources, "Error Handling"). Other errors pass through.
 *
 * @param options.message Default: the error's own
 * @param options.data further members of the error's data
 */
export function asProtocolError(error: unknown, options: { message?: string; data?: object } = {}): Error {
  if (!(error instanceof LonghaulError)) return error as Error;
  const { kind, message, retryable, retryAfterSeconds } = error;
  const isOurs = ['unavailable', 'rate_limited', 'busy', 'internal'].includes(kind);
  const code = isOurs ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams;
  return new ProtocolError(code, options.message ?? message, {
    ...options.data,
    kind,
    retryable,
    retryAfterSeconds,
  });
}

export function invalidParams(message: string, data?: object): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message, data);
}

/** The `error` of a JSON-RPC response. Anything but a ProtocolError becomes an internal error. */
export function rpcErrorOf(error: unknown): { code: number; message: string; data?: unknown } {
  if (!(error instanceof ProtocolError))
    return { code: ProtocolErrorCode.InternalError, message: 'Internal error' };
  const { code, message, data } = error;
  return { code, message, data };
}

export function taskExpired(): ProtocolError {
  return invalidParams('Failed to retrieve task: Task has expired', { kind: 'expired', retryable: false });
}

/** As {@link asProtocolError}, with the message for an unknown task. */
export function asTaskError(error: unknown): Error {
  const isUnknown = isKind(error, 'not_found');
  return asProtocolError(error, isUnknown ? { message: 'Failed to retrieve task: Task not found' } : {});
}
