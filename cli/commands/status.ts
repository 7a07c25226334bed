import type { Command } from 'commander';
import { clientCommand, isJson, printJson, runAgainstServer } from '../client/command.js';
import { EXIT } from '../client/exit-codes.js';
import { print } from '../console.js';

/** `longhaul status`. */
export function registerStatus(program: Command): void {
  const command = clientCommand(program, 'status', "show an operation's status").argument('<token>');
  runAgainstServer(command, async (session, token: string) => {
    const { readChildren } = await import('../client/operation-tools.js');
    const [task, children] = await Promise.all([session.task(token), readChildren(session, token)]);
    if (isJson(command)) printJson(children ? { ...task, children } : task);
    else {
      const { describeTask } = await import('../client/describe.js');
      print(describeTask(session, task, children));
    }
    const [{ isClosed }, { exitCodeOf }] = await Promise.all([
      import('../client/wire.js'),
      import('../client/outcome.js'),
    ]);
    return isClosed(task) ? exitCodeOf(task) : EXIT.ok;
  });
}
