import type { Command } from 'commander';
import {
  addClientFlags,
  isJson,
  runAgainstServer,
  untilInterrupted,
  wholeNumber,
} from '../../client/command.js';
import { EXIT } from '../../client/exit-codes.js';
import { usageFailure } from '../../client/failures.js';
import { connectionReporter, ReconnectPolicy } from '../../client/reconnect-policy.js';
import type { Session } from '../../client/session.js';
import { say } from '../../console.js';
import { CommandFailure } from '../../failure.js';
import { LogWriter } from '../../terminal/log-writer.js';
import { followLogs, showLog, type LogRequest } from '../../terminal/logs.js';

const HELP = `
For a pipeline, STEP is job/2, "job/Step name", test[3]/1, or a job. Without it: the running step, else the failed
one, else the last. Other tools have one log, which their workflows and activities write; for any tool, STEP
"operation" is that log.
Ctrl-C detaches: the work continues.
`;

interface LogFlags {
  follow?: boolean;
  numbers?: boolean;
  tail?: number;
  from?: number;
  to?: number;
  pattern?: string;
}

export function define(command: Command): void {
  addClientFlags(command)
    .argument('<token>')
    .argument('[step]', 'which step (optional)')
    .option('--follow', 'keep printing until the operation is closed, step after step')
    .option('--tail <lines>', 'begin this many lines before the end', wholeNumber)
    .option('--from <line>', 'begin at this line', wholeNumber)
    .option('--to <line>', 'end with this line', wholeNumber)
    .option('--pattern <regexp>', 'only lines that match')
    .option('--numbers', 'print line numbers')
    .addHelpText('after', HELP);
  runAgainstServer(command, async (session, token: string, step: string | undefined) => {
    const { tail, from, to, pattern } = command.opts<LogFlags>();
    if (tail !== undefined && (from ?? to) !== undefined)
      throw usageFailure("--tail: can't be used with --from or --to");
    await logs(session, command, { token, step, tail, from, to, pattern });
  });
}

async function logs(session: Session, command: Command, request: LogRequest): Promise<void> {
  const { follow: isFollowed = false, numbers = false } = command.opts<LogFlags>();
  const writer = new LogWriter({ json: isJson(command), numbers, isTerminal: process.stdout.isTTY });
  const isDetached = await untilInterrupted(async ({ signal }) => {
    const onConnectionChange = connectionReporter(say, "logs can't be read");
    const reconnects = new ReconnectPolicy({ signal, isKnown: false, onConnectionChange });
    const link = { session, signal, reconnects };
    try {
      if (!isFollowed) await showLog(link, request, writer, false);
      const operation = isFollowed ? await followLogs(link, request, writer) : undefined;
      if (operation?.closedAt !== undefined && !isJson(command)) say(`the operation is ${operation.status}`);
    } finally {
      await writer.end();
    }
    return signal.aborted;
  });
  if (!isDetached) return;
  const hint = session.hint('logs', request.token, ...(isFollowed ? ['--follow'] : []));
  throw new CommandFailure(`detached; ${request.token} continues. Come back with: ${hint}`, EXIT.detached);
}
