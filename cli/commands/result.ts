import type { Command } from 'commander';
import { clientCommand, isJson, printJson, runAgainstServer } from '../client/command.js';
import { EXIT } from '../client/exit-codes.js';
import { CommandFailure } from '../failure.js';

/** `longhaul result`. */
export function registerResult(program: Command): void {
  const command = clientCommand(program, 'result', 'print the result of an operation')
    .argument('<token>')
    .option('--wait', 'wait until it is available');
  runAgainstServer(command, async (session, token: string) => {
    const [{ isClosed }, { exitCodeOf, printOutcome }] = await Promise.all([
      import('../client/wire.js'),
      import('../client/outcome.js'),
    ]);
    let task = await session.task(token);
    if (!isClosed(task)) {
      if (!command.opts<{ wait?: boolean }>().wait) {
        throw new CommandFailure(
          `${token}: no result yet, it is ${task.status}; wait for it with: ${session.hint('result', token, ['--wait'])}`,
          EXIT.unfinished,
        );
      }
      const [{ follow }, { createQuietView }] = await Promise.all([
        import('../client/follow.js'),
        import('../client/views.js'),
      ]);
      task = await follow(session, command, token, { isKnown: true, view: createQuietView(isJson(command)) });
    }
    if (isJson(command)) printJson(task);
    else printOutcome(task);
    return exitCodeOf(task);
  });
}
