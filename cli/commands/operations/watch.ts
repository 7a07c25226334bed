import type { Command } from 'commander';
import { addClientFlags, isJson, runAgainstServer } from '../../client/command.js';
import { usageFailure } from '../../client/failures.js';

const HELP = `
Ctrl-C detaches: the work continues.
Of several operations each result follows a line "== TOKEN STATUS" as it comes; with --json each state is a line. The exit
code is the first of 130, 3, 4, 1, 6, 5 and 0 that one of them has.
`;

export function define(command: Command): void {
  addClientFlags(command).argument('<tokens...>', 'one operation or several').addHelpText('after', HELP);
  runAgainstServer(command, async (session, tokens: string[]) => {
    const [token, ...others] = new Set(tokens);
    if (token === undefined) throw usageFailure('expected a token; got none');
    if (others.length > 0) {
      const { followAll } = await import('../../follow/follow-all.js');
      return followAll(session, command, [token, ...others]);
    }
    const [{ follow }, { exitCodeOf, printOutcome }] = await Promise.all([
      import('../../follow/follow.js'),
      import('../../follow/outcome.js'),
    ]);
    const closed = await follow(session, command, token);
    if (!isJson(command)) printOutcome(closed);
    return exitCodeOf(closed);
  });
}
