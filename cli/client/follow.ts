/** Waiting for a task in front of somebody: shows it, asks its questions, and lets Ctrl-C leave it alone. */
import { CommandFailure } from '../failure.js';
import { isJson } from './command.js';
import type { Command } from 'commander';
import { EXIT } from './exit-codes.js';
import { Questions, Turns, type Manner, type QuestionsOptions } from './open-questions.js';
import type { ReconnectOptions } from './reconnect-policy.js';
import type { Session } from './session.js';
import { canAsk, createView, type View } from './views.js';
import { watchTask } from './watch.js';
import { isClosed, type Task } from './wire.js';

export interface FollowOptions {
  /** Is the task known to exist? Then a server that is gone is waited for from the start. */
  isKnown?: boolean;
  /** Shows nothing but what has to be known. Default: the view that fits the output. */
  view?: View;
}

/**
 * Waits until a task is closed.
 *
 * @returns the closed task; with --json every state of it has been printed
 * @throws CommandFailure `detached` after Ctrl-C, Unreachable, RpcError
 */
export async function follow(
  session: Session,
  command: Command,
  taskId: string,
  { isKnown = false, view = createView(isJson(command)) }: FollowOptions = {},
): Promise<Task> {
  const closed = await whileHere(view, ({ signal }, leave) => {
    const asking = { session, taskId, view, manner: mannerOf(command), turns: new Turns(), isNamed: false };
    return followTask({ ...asking, leave }, { signal, isKnown, onTrouble: (why) => sayTrouble(view, why) });
  });
  if (closed) return closed;
  throw new CommandFailure(
    `detached; ${taskId} goes on. Come back with: ${session.hint('watch', taskId)}`,
    EXIT.detached,
  );
}

/** Runs until its end; Ctrl-C fires the signal. Nothing live is left on the screen. */
export async function whileHere<T>(
  view: View,
  run: (leaving: AbortController, leave: () => void) => Promise<T>,
): Promise<T> {
  const leaving = new AbortController();
  const leave = () => leaving.abort();
  process.once('SIGINT', leave);
  try {
    return await run(leaving, leave);
  } finally {
    process.off('SIGINT', leave);
    view.hold();
  }
}

/** Shows a task and asks its questions. @returns undefined once the signal has fired. @throws Unreachable, RpcError */
export async function followTask(
  asking: QuestionsOptions,
  patience: ReconnectOptions,
): Promise<Task | undefined> {
  const { session, taskId, view } = asking;
  const questions = new Questions(asking);
  try {
    for await (const task of watchTask(session, taskId, patience)) {
      view.show(task);
      if (isClosed(task)) return task;
      questions.update(task.inputRequests ?? {});
    }
    return undefined;
  } finally {
    await questions.ended();
  }
}

/** How questions are asked here. */
export function mannerOf(command: Command): Manner {
  if (isJson(command)) return 'silent';
  return canAsk() ? 'prompt' : 'tell';
}

/** @param why undefined when the server is back */
export function sayTrouble(view: View, why: string | undefined): void {
  view.say(
    why === undefined ? 'the server is back' : `the server is gone (${why}); the work goes on, trying again`,
  );
}
