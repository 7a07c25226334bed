/** Common parts of all client commands: flags, error reporting, closing the connection. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { printJson } from '../console.js';
import { EXIT_CODES_HELP } from './exit-codes.js';
import { toCommandFailure } from './failures.js';
import type { Session } from './session.js';

export function addClientFlags(command: Command): Command {
  return command
    .addOption(
      new Option('--url <url>', 'MCP endpoint (default: the running stack, else host and port)').env(
        'LONGHAUL_URL',
      ),
    )
    .option('--json', 'print JSON, for programs')
    .addHelpText('after', EXIT_CODES_HELP);
}

/**
 * @param run gets the operands; returns the exit code
 * @param prepare runs before the server's address is resolved; may change options and operands
 */
export function runAgainstServer<Operands extends unknown[]>(
  command: Command,
  run: (session: Session, ...operands: Operands) => Promise<number>,
  prepare: () => Promise<void> = async () => undefined,
): void {
  command.action(async () => {
    let url: URL | undefined;
    const connect = async () => {
      await prepare();
      const { serverUrlOf, Session } = await import('./session.js');
      url = await serverUrlOf(command);
      const session = new Session(command, url);
      try {
        process.exitCode = await run(session, ...(command.processedArgs as Operands));
      } finally {
        await session.close();
      }
    };
    await withErrorReporting(command, connect, () => url);
  });
}

/** Reports any error as one line. With --json, also prints a document on standard output. */
export async function withErrorReporting(
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

export function isJson(command: Command): boolean {
  // Commander gives a flag that the parent command also has to the parent.
  return command.optsWithGlobals<{ json?: boolean }>().json === true;
}

/** Parses a flag's value. @throws InvalidArgumentError for anything but a whole number from 1 on */
export function wholeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new InvalidArgumentError('expected a whole number of 1 or more.');
  return number;
}
