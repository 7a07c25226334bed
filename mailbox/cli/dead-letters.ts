import { Argument, type Command } from 'commander';
import { addClientFlags, isJson, runAgainstServer } from '../../cli/client/command.js';
import { EXIT } from '../../cli/client/exit-codes.js';
import { print, printJson } from '../../cli/console.js';

const HELP = `
To see the dead letters of an agent and their IDs: longhaul inbox NAME --dead
A message that is resent is delivered up to max_deliveries more times.
`;

export function define(command: Command): void {
  addClientFlags(command)
    .addArgument(new Argument('<action>').choices(['resend', 'drop']))
    .argument('<ids...>')
    .addHelpText('after', HELP);
  runAgainstServer(command, async (session, action: string, ids: string[]) => {
    const { callMailboxTool } = await import('./call-mailbox-tool.js');
    for (const message_id of ids) {
      const answer = await callMailboxTool<object>(session, 'dead_letters', { action, message_id });
      if (isJson(command)) printJson(answer);
      else print(`${action === 'resend' ? 'Resent' : 'Dropped'} ${message_id}`);
    }
    return EXIT.ok;
  });
}
