/** Errors of the engine's verbs as JSON-RPC errors of this era (specs: 2026-07-28 basic, "Error Codes"). */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { LonghaulError, type ErrorKind } from '../../operations/errors.js';

/** What the request got wrong. Everything else is for the server to mend. */
const OF_REQUEST: ReadonlySet<ErrorKind> = new Set<ErrorKind>([
  'unknown_tool',
  'not_found',
  'expired',
  'invalid_arguments',
  'invalid_answer',
  'wrong_state',
  'conflict',
]);

/** Of tools/call, where a result can't say it. */
export function renderCallError(error: unknown): Error {
  return render(error, {});
}

/** Of resources/read (specs: 2026-07-28 server/resources, "Error Handling"). */
export function renderResourceError(error: unknown, uri: string): Error {
  return render(error, { uri });
}

function render(error: unknown, data: object): Error {
  if (!(error instanceof LonghaulError)) return error as Error;
  const { kind, message, retryable } = error;
  const code = OF_REQUEST.has(kind) ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
  return new ProtocolError(code, message, { ...data, kind, retryable });
}
