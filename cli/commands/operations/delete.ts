import type { Command } from 'commander';
import { addClientFlags, isJson, runAgainstServer } from '../../client/command.js';
import { EXIT } from '../../client/exit-codes.js';
import { print, printJson } from '../../console.js';

export function define(command: Command): void {
  addClientFlags(command)
    .argument('<token>')
    .addHelpText(
      'after',
      '\nAn open operation is refused: cancel it first. What is deleted is gone for good.\n',
    );
  runAgainstServer(command, async (session, token: string) => {
    const { callOperationTool } = await import('../../client/operation-tools.js');
    const deleted = await callOperationTool(session, 'operation_delete', { token });
    if (isJson(command)) printJson(deleted);
    else print(`${token} is deleted`);
    return EXIT.ok;
  });
}
