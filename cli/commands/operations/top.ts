import type { Command } from 'commander';
import { addClientFlags, runAgainstServer, wholeNumber } from '../../client/command.js';
import { usageFailure } from '../../client/failures.js';
import { runTop } from '../../top/index.js';

const HELP = `
Keys: up and down select, o or Enter opens, a answers, c cancels, Esc goes back, q quits. Questions are on top.
`;

export function define(command: Command): void {
  addClientFlags(command)
    .option('--tool <name>', 'only those of this tool')
    .option('--everyone', "also others' of your tenant, if a role allows it")
    .option('--interval <seconds>', 'seconds between two looks at the rows on the screen', wholeNumber, 2)
    .addHelpText('after', HELP);
  runAgainstServer(
    command,
    (session) => {
      const { tool, everyone, interval } = command.opts<{
        tool?: string;
        everyone?: boolean;
        interval: number;
      }>();
      return runTop(session, { tool, everyone }, interval * 1_000);
    },
    async () => {
      const isTerminal = process.stdin.isTTY && process.stdout.isTTY && process.env['TERM'] !== 'dumb';
      if (!isTerminal)
        throw usageFailure('expected a terminal; for pipes and files there is `longhaul list --watch`');
    },
  );
}
