/** Waits for a task: shows its state, asks its questions, detaches on Ctrl-C. */
import type { Command } from 'commander';
import PQueue from 'p-queue';
import { CommandFailure } from '../failure.js';
import { isJson, untilInterrupted } from '../client/command.js';
import { EXIT } from '../client/exit-codes.js';
import { QuestionPrompter, type QuestionMode, type QuestionsOptions } from '../questions/open-questions.js';
import { connectionReporter, type ReconnectOptions } from '../client/reconnect-policy.js';
import type { Session } from '../client/session.js';
import { isInteractive, createView, type View } from '../terminal/views.js';
import { say } from '../console.js';
import { exitCodeOf, printOutcome } from './outcome.js';
import { watchTask } from './watch.js';
import { isClosed, type Task } from '../client/wire.js';

export interface FollowOptions {
  /** Whether the task is known to exist, so that even the first attempt is retried. */
  isKnown?: boolean;
  /** Default: the view that fits the output. */
  view?: View;
}

/** Prints the token of work that the command itself started, and waits for it. @returns the exit code */
export async function waitFor(session: Session, command: Command, tool: string, task: Task): Promise<number> {
  if (!isJson(command)) say(`${tool} runs as ${task.taskId}`);
  return followToOutcome(session, command, task.taskId, { isKnown: true });
}

/** Waits for a task and prints its outcome; with --json, every state. @returns the exit code */
export async function followToOutcome(
  session: Session,
  command: Command,
  taskId: string,
  options: FollowOptions = {},
): Promise<number> {
  const closed = await follow(session, command, taskId, options);
  if (!isJson(command)) printOutcome(closed);
  return exitCodeOf(closed);
}

/** Returns a task once it is closed. With --json, prints every state. @throws CommandFailure `detached`, Unreachable, RpcError */
export async function follow(
  session: Session,
  command: Command,
  taskId: string,
  { isKnown = false, view = createView(isJson(command)) }: FollowOptions = {},
): Promise<Task> {
  const closed = await untilDetached(view, ({ signal }, leave) => {
    const turns = new PQueue({ concurrency: 1 });
    const manner = questionModeOf(command);
    const asking = { session, taskId, view, manner, turns, isNamed: false, leave };
    return followTask(asking, { signal, isKnown, onConnectionChange: reporterOf(view) });
  });
  if (closed) return closed;
  throw new CommandFailure(
    `detached; ${taskId} continues. Come back with: ${session.hint('watch', taskId)}`,
    EXIT.detached,
  );
}

/** Runs a function until it ends or Ctrl-C detaches. Clears the live lines at the end. */
export function untilDetached<T>(
  view: View,
  run: (leaving: AbortController, leave: () => void) => Promise<T>,
): Promise<T> {
  return untilInterrupted((leaving) => run(leaving, () => leaving.abort())).finally(() => view.hold());
}

/** Shows a task and asks its questions. @returns undefined once the signal is aborted. @throws Unreachable, RpcError */
export async function followTask(
  asking: QuestionsOptions,
  reconnects: ReconnectOptions,
): Promise<Task | undefined> {
  const { session, taskId, view } = asking;
  const questions = new QuestionPrompter(asking);
  try {
    for await (const task of watchTask(session, taskId, reconnects)) {
      view.show(task);
      if (isClosed(task)) return task;
      questions.update(task.inputRequests ?? {});
    }
    return undefined;
  } finally {
    await questions.ended();
  }
}

/** How to handle questions in this terminal or pipe. */
export function questionModeOf(command: Command): QuestionMode {
  if (isJson(command)) return 'silent';
  return isInteractive() ? 'prompt' : 'print';
}

/** Shows changes of the connection in the view. */
export function reporterOf(view: View): ReconnectOptions['onConnectionChange'] {
  return connectionReporter((line) => view.say(line), 'the server is gone');
}
