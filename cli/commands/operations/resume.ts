import type { Command } from 'commander';
import { addClientFlags, runAgainstServer } from '../../client/command.js';

interface ResumeFlags {
  from?: string;
  detach?: boolean;
}

export function define(command: Command): void {
  addClientFlags(command)
    .argument('<token>')
    .option(
      '--from <step>',
      'where to resume: job/2, "job/Step name" or a job (default: after the last finished step)',
    )
    .option('--detach', 'print the new token at once, without waiting')
    .addHelpText('after', '\nIt continues as a new operation. Ctrl-C detaches: the work continues.\n');
  runAgainstServer(command, async (session, token: string) => {
    const [{ callOperationTool, readSteps }, { printToken, waitFor }] = await Promise.all([
      import('../../client/operation-tools.js'),
      import('../../follow/wait.js'),
    ]);
    const { from, detach: isDetached } = command.opts<ResumeFlags>();
    const resumed = await callOperationTool<{ token: string }>(session, 'operation_resume', {
      token,
      from,
    });
    const task = await session.task(resumed.token);
    if (isDetached) return printToken(command, task);
    const { tool } = await readSteps(session, resumed.token);
    return waitFor(session, command, tool, task);
  });
}
