import { Option, type Command } from 'commander';
import { readPartial } from '../../client/jobs-api.js';
import { addClientFlags, isJson, printOutput, runAgainstServer } from '../../client/command.js';
import { EXIT } from '../../client/exit-codes.js';
import { isClosed } from '../../client/wire.js';
import { printJson } from '../../console.js';
import { CommandFailure } from '../../failure.js';
import { follow } from '../../follow/follow.js';
import { exitCodeOf, printOutcome } from '../../follow/outcome.js';
import { jsonText } from '../../terminal/terminal-text.js';
import { createQuietView } from '../../terminal/views.js';

export function define(command: Command): void {
  addClientFlags(command)
    .argument('<token>')
    .option('--wait', 'wait until it is available')
    .addOption(
      new Option('--partial', 'print what is finished so far, as JSON, also of one that failed').conflicts(
        'wait',
      ),
    );
  runAgainstServer(command, async (session, token: string) => {
    const { wait, partial: isPartial } = command.opts<{ wait?: boolean; partial?: boolean }>();
    let task = await session.task(token);
    if (isPartial) {
      const partial = await readPartial(session, token);
      if (partial !== undefined) return printOutput(command, { token, partial }, () => jsonText(partial, 2));
      throw isClosed(task)
        ? new CommandFailure(`${token}: no partial result`)
        : new CommandFailure(`${token}: no partial result yet`, EXIT.unfinished);
    }
    if (!isClosed(task)) {
      if (!wait)
        throw new CommandFailure(
          `${token}: no result yet, it is ${task.status}; wait for it with: ${session.hint('result', token, '--wait')}`,
          EXIT.unfinished,
        );
      task = await follow(session, command, token, { isKnown: true, view: createQuietView(isJson(command)) });
    }
    if (isJson(command)) printJson(task);
    else printOutcome(task);
    return exitCodeOf(task);
  });
}
