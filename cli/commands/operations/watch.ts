import type { Command } from 'commander';
import { addClientFlags, runAgainstServer } from '../../client/command.js';
import { followAll } from '../../follow/follow-all.js';
import { followToOutcome } from '../../follow/follow.js';

const HELP = `
Ctrl-C detaches: the work continues.
Of several operations each result follows a line "== TOKEN STATUS" as it comes; with --json each state is a line. The exit
code is the first of 130, 3, 4, 1, 6, 5 and 0 that one of them has.
`;

export function define(command: Command): void {
  addClientFlags(command).argument('<tokens...>', 'one operation or several').addHelpText('after', HELP);
  runAgainstServer(command, async (session, tokens: string[]) => {
    const [token = '', ...others] = new Set(tokens);
    if (others.length > 0) return followAll(session, command, [token, ...others]);
    return followToOutcome(session, command, token);
  });
}
