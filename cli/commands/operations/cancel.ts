import type { Command } from 'commander';
import { addClientFlags, printOutput, runAgainstServer } from '../../client/command.js';
import { EXIT } from '../../client/exit-codes.js';
import { callOperationTool } from '../../client/operation-tools.js';
import type { Session } from '../../client/session.js';
import { isClosed } from '../../client/wire.js';
import { exitCodeOf } from '../../follow/outcome.js';

export function define(command: Command): void {
  addClientFlags(command)
    .argument('<tokens...>', 'one operation or several')
    .option('--force', 'end them at once, without their cleanups: for operations that a cancel did not end');
  runAgainstServer(command, async (session, tokens: string[]) => {
    let exitCode: number = EXIT.ok;
    let failure: Error | undefined;
    for (const token of tokens) {
      try {
        exitCode = Math.max(exitCode, await cancel(session, command, token));
      } catch (error) {
        // Still cancel the others.
        failure ??= error as Error;
      }
    }
    if (failure) throw failure;
    return exitCode;
  });
}

/** @returns the exit code */
async function cancel(session: Session, command: Command, token: string): Promise<number> {
  const task = await session.task(token);
  if (isClosed(task)) {
    printOutput(command, task, () => `${token} is ${task.status} already`);
    // Canceling an operation that is already canceled is a success.
    return task.status === 'canceled' ? EXIT.ok : exitCodeOf(task);
  }
  if (command.opts<{ force?: boolean }>().force)
    await callOperationTool(session, 'operation_cancel', { token, force: true });
  else await session.request('tasks/cancel', { taskId: token });
  const after = await session.task(token);
  printOutput(command, after, () =>
    isClosed(after)
      ? `${token} is ${after.status}`
      : `cancel requested; see how it ends with: ${session.hint('watch', token)}`,
  );
  return EXIT.ok;
}
