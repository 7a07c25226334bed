/** The one place where a command's failure becomes words and an exit code. */
import { CommanderError } from 'commander';

/** A failure that a command wants told in one line. */
export class CommandFailure extends Error {
  override name = 'CommandFailure';
  constructor(
    message: string,
    /** Default: 1. */
    readonly exitCode: number = 1,
  ) {
    super(message);
  }
}

/** Errors whose message is all that a user needs. */
const USER_ERRORS = ['CommandFailure', 'HomeError', 'SettingsError', 'StackError', 'LonghaulError'];

/**
 * Tells a failure on standard error; only what nobody expected comes with its stack trace.
 *
 * @returns the exit code: 2 for wrong usage, else 1 or what the failure asks for
 */
export function reportFailure(error: unknown): number {
  // Commander has told these already; help and version come this way as well.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const failure = error instanceof Error ? error : new Error(String(error));
  const isExpected = USER_ERRORS.includes(failure.name);
  process.stderr.write(`longhaul: ${isExpected ? failure.message : unexpected(failure)}\n`);
  if (failure.name === 'HomeError') return 2;
  return failure instanceof CommandFailure ? failure.exitCode : 1;
}

/** A file that can't be read or written is no defect of the program: its path and the reason are all there is to say. */
function unexpected({ path, message, stack }: NodeJS.ErrnoException): string {
  return (path === undefined ? stack : undefined) ?? message;
}
