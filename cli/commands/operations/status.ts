import type { Command } from 'commander';
import { addClientFlags, isJson, runAgainstServer } from '../../client/command.js';
import { EXIT } from '../../client/exit-codes.js';
import { print, printJson } from '../../console.js';

export function define(command: Command): void {
  addClientFlags(command)
    .argument('<token>')
    .option('--page <name>', 'the items of a page of a job with many, e.g. test[0-249]');
  runAgainstServer(command, async (session, token: string) => {
    const { readChildren, readSteps } = await import('../../client/operation-tools.js');
    const { page } = command.opts<{ page?: string }>();
    const [task, children] = await Promise.all([
      session.task(token),
      page === undefined
        ? readChildren(session, token)
        : readSteps(session, token, { page }).then((steps) => steps.children ?? []),
    ]);
    if (isJson(command)) printJson(children ? { ...task, children } : task);
    else {
      const { describeTask } = await import('../../terminal/describe.js');
      print(describeTask(session, task, children));
    }
    const [{ isClosed }, { exitCodeOf }] = await Promise.all([
      import('../../client/wire.js'),
      import('../../follow/outcome.js'),
    ]);
    return isClosed(task) ? exitCodeOf(task) : EXIT.ok;
  });
}
