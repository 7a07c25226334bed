import type { Command } from 'commander';
import { addClientFlags, isJson, runAgainstServer } from '../../cli/client/command.js';
import { EXIT } from '../../cli/client/exit-codes.js';
import { print, printJson } from '../../cli/console.js';

const HELP = `
Its wait returns bye, and its messages are kept for when it registers again.
`;

export function define(command: Command): void {
  addClientFlags(command).argument('<name>').addHelpText('after', HELP);
  runAgainstServer(command, async (session, name: string) => {
    const { callMailboxTool } = await import('./call-mailbox-tool.js');
    const answer = await callMailboxTool<{ bye: string }>(session, 'bye', { agent_name: name });
    if (isJson(command)) printJson(answer);
    else print(`The wait of ${answer.bye} was ended.`);
    return EXIT.ok;
  });
}
