/** Reports a command's failure as a message and an exit code. */
import { CommanderError } from 'commander';
import { say } from './console.js';

/** A failure that is reported as one line. */
export class CommandFailure extends Error {
  override name = 'CommandFailure';
  constructor(
    message: string,
    /** Default: 1. */
    readonly exitCode: number = 1,
    /** Fields beside `error` in the document that --json prints. */
    readonly document: Record<string, unknown> = {},
  ) {
    super(message);
  }
}

/** Errors that are reported without a stack trace. */
const USER_ERRORS = [
  'CommandFailure',
  'HomeError',
  'SettingsError',
  'StackError',
  'LonghaulError',
  'StorageError',
];

/** Reports a failure, with a stack trace if unexpected. @returns the exit code: 2 for wrong usage, else 1 or the failure's own */
export function reportFailure(error: unknown): number {
  // Commander has already printed these, as well as help and version.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const failure = error instanceof Error ? error : new Error(String(error));
  const isExpected = USER_ERRORS.includes(failure.name);
  say(`longhaul: ${isExpected ? failure.message : unexpected(failure)}`);
  if (failure.name === 'HomeError') return 2;
  return failure instanceof CommandFailure ? failure.exitCode : 1;
}

/** For an unusable file, path and reason suffice. Other errors show their stack trace. */
function unexpected({ path, message, stack }: NodeJS.ErrnoException): string {
  return (path === undefined ? stack : undefined) ?? message;
}
