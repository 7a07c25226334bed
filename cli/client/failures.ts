/** Converts errors of a request to one line and an exit code. */
import { CommanderError } from 'commander';
import type { ErrorKind } from '../../operations/errors.js';
import { programCommand } from '../../platform/home/program.js';
import { CommandFailure } from '../failure.js';
import { EXIT } from './exit-codes.js';

/** Exit codes of error kinds (operations/errors.ts). Default: failed. */
const KIND_CODES: Partial<Record<string, number>> = {
  invalid_arguments: EXIT.usage,
  invalid_answer: EXIT.usage,
  unknown_tool: EXIT.usage,
  too_large: EXIT.usage,
  unavailable: EXIT.unreachable,
  rate_limited: EXIT.unreachable,
  not_found: EXIT.notFound,
  expired: EXIT.notFound,
  canceled: EXIT.canceled,
  timed_out: EXIT.timedOut,
} satisfies Partial<Record<ErrorKind, number>>;
const INVALID_PARAMS = -32602;

export function usageFailure(message: string): CommandFailure {
  return new CommandFailure(message, EXIT.usage);
}

/** Exit code for an error kind that the server sent. */
export function exitCodeOfKind(kind = ''): number {
  return KIND_CODES[kind] ?? EXIT.failed;
}

/** The fields of RpcError that {@link toCommandFailure} uses. Importing the class would load the whole SDK. */
interface RpcErrorLike extends Error {
  method: string;
  subject: string | undefined;
  code: number;
  kind: string | undefined;
}

/** Converts any error to a command's failure: one line without a stack trace. */
export function toCommandFailure(error: unknown, url?: URL): Error {
  if (error instanceof CommandFailure || error instanceof CommanderError) return error;
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  switch (name) {
    case 'Unreachable':
      return new CommandFailure(
        `no server at ${url?.href ?? 'that address'}: ${message}; start one with \`${programCommand()} up\`, or name another with --url`,
        EXIT.unreachable,
      );
    case 'HomeError':
    case 'SettingsError':
      return usageFailure(message);
    case 'RpcError':
      return rpcFailure(error as RpcErrorLike);
    default:
      return new CommandFailure(message);
  }
}

function rpcFailure({ method, subject, code, kind, message }: RpcErrorLike): CommandFailure {
  const about = subject === undefined ? '' : `${subject}: `;
  // Errors of expired tasks and of other servers have no kind.
  const isTaskMissing = kind === undefined && code === INVALID_PARAMS && method.startsWith('tasks/');
  if (isTaskMissing) return new CommandFailure(`${about}${message}`, EXIT.notFound);
  return new CommandFailure(
    `${about}${message}${kind === undefined ? ` (${code})` : ''}`,
    exitCodeOfKind(kind),
  );
}
