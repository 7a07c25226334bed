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
const EXPECTED = ['CommandFailure', 'SettingsError', 'StackError', 'LonghaulError'];

/**
 * Tells a failure on standard error; only what nobody expected comes with its stack trace.
 *
 * @returns the exit code: 2 for wrong usage, else 1 or what the failure asks for
 */
export function reportFailure(error: unknown): number {
  // Commander has told these already; help and version come this way as well.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const failure = error instanceof Error ? error : new Error(String(error));
  const isExpected = EXPECTED.includes(failure.name);
  process.stderr.write(`longhaul: ${isExpected ? failure.message : (failure.stack ?? failure.message)}\n`);
  return failure instanceof CommandFailure ? failure.exitCode : 1;
}
