import type { Command } from 'commander';
import { addClientFlags, printOutput, runAgainstServer } from '../../client/command.js';
import { readChildren, readSteps } from '../../client/operation-tools.js';
import { isClosed } from '../../client/wire.js';
import { exitCodeOf } from '../../follow/outcome.js';
import { describeTask } from '../../terminal/describe.js';

export function define(command: Command): void {
  addClientFlags(command)
    .argument('<token>')
    .option('--page <name>', 'the items of a page of a job with many, e.g. test[0-249]');
  runAgainstServer(command, async (session, token: string) => {
    const { page } = command.opts<{ page?: string }>();
    const [task, children] = await Promise.all([
      session.task(token),
      page === undefined
        ? readChildren(session, token)
        : readSteps(session, token, { page }).then((steps) => steps.children ?? []),
    ]);
    printOutput(command, { ...task, children }, () => describeTask(session, task, children));
    if (isClosed(task)) return exitCodeOf(task);
  });
}
