/** Converts errors of a request to one line and an exit code. */
import { CommanderError } from 'commander';
import { programCommand } from '../../platform/home/program.js';
import { CommandFailure } from '../failure.js';
import { EXIT } from './exit-codes.js';

/** Error kinds (operations/errors.ts) that mean wrong usage. */
const USAGE_KINDS = ['invalid_arguments', 'invalid_answer', 'unknown_tool', 'too_large'];
const INVALID_PARAMS = -32602;

export function usageFailure(message: string): CommandFailure {
  return new CommandFailure(message, EXIT.usage);
}

/** Exit code for an error kind that the server sent. */
export function exitCodeOfKind(kind: string | undefined): number {
  if (kind === undefined) return EXIT.failed;
  if (USAGE_KINDS.includes(kind)) return EXIT.usage;
  switch (kind) {
    case 'unavailable':
    case 'rate_limited':
      return EXIT.unreachable;
    case 'not_found':
    case 'expired':
      return EXIT.notFound;
    case 'canceled':
      return EXIT.canceled;
    case 'timed_out':
      return EXIT.timedOut;
    default:
      return EXIT.failed;
  }
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
