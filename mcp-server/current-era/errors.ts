/** Errors of the engine's verbs as JSON-RPC errors of this era (specs: 2026-07-28 basic, "Error Codes"). */
import { LonghaulError } from '../../operations/errors.js';
import { asProtocolError } from '../protocol-error.js';

/** Of tools/call, where a result can't say it. */
export function renderCallError(error: unknown): Error {
  return error instanceof LonghaulError ? asProtocolError(error) : (error as Error);
}

/** Of resources/read (specs: 2026-07-28 server/resources, "Error Handling"). */
export function renderResourceError(error: unknown, uri: string): Error {
  return error instanceof LonghaulError ? asProtocolError(error, { data: { uri } }) : (error as Error);
}
