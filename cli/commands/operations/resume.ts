import type { Command } from 'commander';
import { addClientFlags, printOutput, runAgainstServer } from '../../client/command.js';
import { callOperationTool, readSteps } from '../../client/operation-tools.js';
import { waitFor } from '../../follow/follow.js';

export function define(command: Command): void {
  addClientFlags(command)
    .argument('<token>')
    .option(
      '--from <step>',
      'where to resume: job/2, "job/Step name" or a job (default: after the last finished step)',
    )
    .option('--detach', 'print the new token at once, without waiting')
    .addHelpText('after', '\nIt continues as a new operation. Ctrl-C detaches: the work continues.\n');
  runAgainstServer(command, async (session, earlier: string) => {
    const { from, detach } = command.opts<{ from?: string; detach?: boolean }>();
    const args = { token: earlier, from };
    const { output } = await callOperationTool<{ token: string }>(session, 'operation_resume', args);
    const { token } = output;
    const task = await session.task(token);
    if (detach) return printOutput(command, task, () => token);
    const { tool } = await readSteps(session, token);
    return waitFor(session, command, tool, task);
  });
}
