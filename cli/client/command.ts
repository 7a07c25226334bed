/** Common parts of commands: flags, output, error reporting, and the connection to the server. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { print, printJson } from '../console.js';
import { EXIT, EXIT_CODES_HELP } from './exit-codes.js';
import { toCommandFailure, usageFailure } from './failures.js';
import type { Session } from './session.js';

export function addJsonFlag(command: Command): Command {
  return command.option('--json', 'print JSON, for programs');
}

export function addClientFlags(command: Command): Command {
  command.addOption(
    new Option('--url <url>', 'MCP endpoint (default: the running stack, else host and port)').env(
      'LONGHAUL_URL',
    ),
  );
  return addJsonFlag(command).addHelpText('after', EXIT_CODES_HELP);
}

/** Sets the command's action. Any error is reported as one line. @param run gets the operands */
export function runReporting<Operands extends unknown[]>(
  command: Command,
  run: (...operands: Operands) => Promise<void>,
): void {
  command.action(() => withErrorReporting(command, () => run(...(command.processedArgs as Operands))));
}

/**
 * Sets the action of a command that needs the server.
 *
 * @param run gets the operands; returns the exit code. Default: 0
 * @param prepare runs before the server's address is resolved; may change options and operands
 */
export function runAgainstServer<Operands extends unknown[]>(
  command: Command,
  run: (session: Session, ...operands: Operands) => Promise<number | void>,
  prepare: () => Promise<void> = async () => undefined,
): void {
  command.action(async () => {
    let url: URL | undefined;
    const connect = async () => {
      await prepare();
      // Loads the client, which commands without a server don't need.
      const { serverUrlOf, Session } = await import('./session.js');
      url = await serverUrlOf(command);
      const session = new Session(command, url);
      try {
        process.exitCode = (await run(session, ...(command.processedArgs as Operands))) ?? EXIT.ok;
      } finally {
        await session.close();
      }
    };
    await withErrorReporting(command, connect, () => url);
  });
}

/** Reports any error as one line. With --json, also prints a document on standard output. */
async function withErrorReporting(
  command: Command,
  run: () => Promise<void>,
  url: () => URL | undefined = () => undefined,
): Promise<void> {
  try {
    await run();
  } catch (error) {
    const failure = toCommandFailure(error, url());
    const { exitCode = 1, document } = failure as { exitCode?: number; document?: Record<string, unknown> };
    if (isJson(command)) printJson({ error: { message: failure.message, exitCode }, ...document });
    throw failure;
  }
}

/** Runs a function with a signal that Ctrl-C aborts. @param reason of the abort */
export async function untilInterrupted<T>(
  run: (interruption: AbortController) => Promise<T>,
  reason?: Error,
): Promise<T> {
  const interruption = new AbortController();
  const interrupt = () => interruption.abort(reason);
  process.once('SIGINT', interrupt);
  try {
    return await run(interruption);
  } finally {
    process.off('SIGINT', interrupt);
  }
}

export function isJson(command: Command): boolean {
  // Commander gives a flag that the parent command also has to the parent.
  return command.optsWithGlobals<{ json?: boolean }>().json === true;
}

/** Prints a document with --json, else the text. */
export function printOutput(command: Command, document: unknown, text: () => string): void {
  if (isJson(command)) printJson(document);
  else print(text());
}

/** Parses a flag's value. @throws InvalidArgumentError for anything but a whole number from 1 on */
export function wholeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new InvalidArgumentError('expected a whole number of 1 or more.');
  return number;
}

/** A century: longer ages are typing errors. */
const MOST_DAYS = 36_500;
const UNIT_SECONDS = { s: 1, m: 60, h: 3600, d: 24 * 3600 };

/** Parses a time, or an age. @returns an age in seconds, or a time, which isn't checked further. @throws InvalidArgumentError */
export function since(text: string): number | string {
  if (/^\d{4}-/.test(text)) return text;
  const [, amount, unit] = /^(\d+)([smhd])$/.exec(text) ?? [];
  if (amount === undefined)
    throw new InvalidArgumentError(
      'expected a time such as 2026-11-21T12:00:00Z, or an age such as 30m, 2h or 3d.',
    );
  const seconds = Number(amount) * UNIT_SECONDS[unit as keyof typeof UNIT_SECONDS];
  if (seconds > MOST_DAYS * UNIT_SECONDS.d)
    throw new InvalidArgumentError(`expected an age of at most ${MOST_DAYS}d.`);
  return seconds;
}

/** Converts what {@link since} returns to ISO 8601. @throws CommandFailure for a time that doesn't exist */
export function timeOfSince(given: number | string, now: Date): string {
  const time = typeof given === 'number' ? new Date(now.getTime() - given * 1_000) : new Date(given);
  if (!Number.isNaN(time.getTime())) return time.toISOString();
  throw usageFailure(`--since: expected a time such as 2026-11-21T12:00:00Z; got ${given}`);
}

/** Collects the values of a repeated flag. */
export function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}
