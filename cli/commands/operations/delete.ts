import type { Command } from 'commander';
import { addClientFlags, printOutput, runAgainstServer } from '../../client/command.js';
import { callOperationTool } from '../../client/operation-tools.js';

const HELP = '\nAn open operation is refused: cancel it first. What is deleted is gone for good.\n';

export function define(command: Command): void {
  addClientFlags(command).argument('<token>').addHelpText('after', HELP);
  runAgainstServer(command, async (session, token: string) => {
    const { output } = await callOperationTool(session, 'operation_delete', { token });
    printOutput(command, output, () => `${token} is deleted`);
  });
}
