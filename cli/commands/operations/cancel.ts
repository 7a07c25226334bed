import type { Command } from 'commander';
import { addClientFlags, isJson, runAgainstServer } from '../../client/command.js';
import { EXIT } from '../../client/exit-codes.js';
import type { Session } from '../../client/session.js';
import { print, printJson } from '../../console.js';

export function define(command: Command): void {
  addClientFlags(command)
    .argument('<tokens...>', 'one operation or several')
    .option('--force', 'end them at once, without their cleanups: for operations that a cancel did not end');
  runAgainstServer(command, async (session, tokens: string[]) => {
    let exitCode: number = EXIT.ok;
    let failure: Error | undefined;
    for (const token of tokens) {
      try {
        exitCode = Math.max(
          exitCode,
          await cancel(session, token, { json: isJson(command), force: Boolean(command.opts()['force']) }),
        );
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
async function cancel(
  session: Session,
  token: string,
  { json, force }: { json: boolean; force: boolean },
): Promise<number> {
  const [{ isClosed }, { exitCodeOf }] = await Promise.all([
    import('../../client/wire.js'),
    import('../../follow/outcome.js'),
  ]);
  const task = await session.task(token);
  if (!isClosed(task))
    await (force ? end(session, token) : session.request('tasks/cancel', { taskId: token }));
  const after = isClosed(task) ? task : await session.task(token);
  if (json) printJson(after);
  else if (isClosed(task)) print(`${token} is ${task.status} already`);
  else if (isClosed(after)) print(`${token} is ${after.status}`);
  else print(`cancel requested; see how it ends with: ${session.hint('watch', token)}`);
  // Canceling an operation that is already canceled is a success.
  return isClosed(task) && task.status !== 'canceled' ? exitCodeOf(task) : EXIT.ok;
}

async function end(session: Session, token: string): Promise<unknown> {
  const { callOperationTool } = await import('../../client/operation-tools.js');
  return callOperationTool(session, 'operation_cancel', { token, force: true });
}
