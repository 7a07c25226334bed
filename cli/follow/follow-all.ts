/** Waits for several tasks concurrently and independently. */
import { setMaxListeners } from 'node:events';
import type { Command } from 'commander';
import PQueue from 'p-queue';
import { print, printJson, say } from '../console.js';
import { CommandFailure } from '../failure.js';
import { isJson } from '../client/command.js';
import { EXIT } from '../client/exit-codes.js';
import { toCommandFailure } from '../client/failures.js';
import { followTask, questionModeOf, reporterOf, untilDetached } from './follow.js';
import { exitCodeOf, printOutcome } from './outcome.js';
import type { ReconnectOptions } from '../client/reconnect-policy.js';
import type { Session } from '../client/session.js';
import { createView, type View } from '../terminal/views.js';
import type { Task } from '../client/wire.js';

/** Worst first: an unknown outcome is worse than a bad one. */
const WORST_FIRST: number[] = [
  ...[EXIT.detached, EXIT.unreachable, EXIT.notFound],
  ...[EXIT.failed, EXIT.timedOut, EXIT.canceled, EXIT.ok],
];

/**
 * Waits until all tasks are closed. Prints each outcome under a line `== TOKEN STATUS`, or with --json every state of every task.
 * A missing task doesn't stop the others.
 *
 * @returns the worst of the tasks' exit codes
 * @throws CommandFailure `detached` after Ctrl-C; `unreachable` when no server answers, or none for 15 minutes
 */
export async function followAll(session: Session, command: Command, taskIds: string[]): Promise<number> {
  const view = createView(isJson(command), taskIds);
  const turns = new PQueue({ concurrency: 1 });
  const server = new SharedServer(view);
  const codes = await untilDetached(view, async (leaving, leave) => {
    // Every task adds a listener.
    setMaxListeners(0, leaving.signal);
    const one = async (taskId: string): Promise<number> => {
      const reconnects = server.reconnectOptions(leaving.signal);
      const asking = { session, taskId, view, manner: questionModeOf(command), turns, isNamed: true, leave };
      try {
        const closed = await followTask(asking, reconnects);
        if (!closed) return EXIT.detached;
        if (!isJson(command)) await turns.add(() => showOutcome(view, closed));
        return exitCodeOf(closed);
      } catch (error) {
        const failure = toCommandFailure(error, session.url);
        const exitCode = failure instanceof CommandFailure ? failure.exitCode : EXIT.failed;
        if (exitCode === EXIT.unreachable) {
          leave();
          throw failure;
        }
        if (isJson(command)) printJson({ taskId, error: { message: failure.message, exitCode } });
        await turns.add(() => view.say(`longhaul: ${failure.message}`));
        return exitCode;
      }
    };
    const ends = await Promise.allSettled(taskIds.map(one));
    return ends.map((end) => {
      if (end.status === 'rejected') throw end.reason;
      return end.value;
    });
  });
  const open = taskIds.filter((_taskId, index) => codes[index] === EXIT.detached);
  if (open.length > 0) {
    const who = open.length === 1 ? `${open[0]} continues` : `${open.length} operations continue`;
    throw new CommandFailure(
      `detached; ${who}. Come back with: ${session.hint('watch', ...open)}`,
      EXIT.detached,
    );
  }
  return WORST_FIRST.find((code) => codes.includes(code)) ?? EXIT.failed;
}

function showOutcome(view: View, task: Task): void {
  view.hold();
  const header = `== ${task.taskId} ${task.status}`;
  // Use the outcome's own stream.
  if (task.status === 'completed') print(header);
  else say(header);
  printOutcome(task);
  view.release();
}

/** Connection state shared by all tasks: after one answer all tasks wait for the server, and each change is printed once. */
class SharedServer {
  #isReached = false;
  #troubled = 0;

  constructor(private readonly view: View) {}

  reconnectOptions(signal: AbortSignal): ReconnectOptions {
    const isReached = () => this.#isReached;
    return {
      signal,
      get isKnown() {
        return isReached();
      },
      onReached: () => (this.#isReached = true),
      onConnectionChange: (why?: string) => {
        const before = this.#troubled;
        this.#troubled += why === undefined ? -1 : 1;
        if (before === 0 || this.#troubled === 0) reporterOf(this.view)(why);
      },
    };
  }
}
