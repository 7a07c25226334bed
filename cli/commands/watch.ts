import type { Command } from 'commander';
import { clientCommand, isJson, runs } from '../client/command.js';

/** `longhaul watch`. */
export function registerWatch(program: Command): void {
  const command = clientCommand(
    program,
    'watch',
    'wait for an operation, answer its questions, show its result',
  )
    .argument('<token>')
    .addHelpText('after', '\nCtrl-C detaches: the work goes on.\n');
  runs(command, async (session, token: string) => {
    const [{ follow }, { exitCodeOf, printOutcome }] = await Promise.all([
      import('../client/follow.js'),
      import('../client/outcome.js'),
    ]);
    const closed = await follow(session, command, token);
    if (!isJson(command)) printOutcome(closed);
    return exitCodeOf(closed);
  });
}
