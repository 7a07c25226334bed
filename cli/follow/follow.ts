/** Waits for a task: shows its state, asks its questions, detaches on Ctrl-C. */
import type { Command } from 'commander';
import PQueue from 'p-queue';
import { CommandFailure } from '../failure.js';
import { isJson } from '../client/command.js';
import { EXIT } from '../client/exit-codes.js';
import { QuestionPrompter, type QuestionMode, type QuestionsOptions } from '../questions/open-questions.js';
import type { ReconnectOptions } from '../client/reconnect-policy.js';
import type { Session } from '../client/session.js';
import { isInteractive, createView, type View } from '../terminal/views.js';
import { watchTask } from './watch.js';
import { isClosed, type Task } from '../client/wire.js';

export interface FollowOptions {
  /** Whether the task is known to exist, so that even the first attempt is retried. */
  isKnown?: boolean;
  /** Default: the view that fits the output. */
  view?: View;
}

/** Returns a task once it is closed. With --json, prints every state. @throws CommandFailure `detached`, Unreachable, RpcError */
export async function follow(
  session: Session,
  command: Command,
  taskId: string,
  { isKnown = false, view = createView(isJson(command)) }: FollowOptions = {},
): Promise<Task> {
  const closed = await untilDetached(view, ({ signal }, leave) => {
    const asking = {
      session,
      taskId,
      view,
      manner: questionModeOf(command),
      turns: new PQueue({ concurrency: 1 }),
      isNamed: false,
    };
    return followTask(
      { ...asking, leave },
      { signal, isKnown, onConnectionChange: (why) => reportConnectionState(view, why) },
    );
  });
  if (closed) return closed;
  throw new CommandFailure(
    `detached; ${taskId} continues. Come back with: ${session.hint('watch', taskId)}`,
    EXIT.detached,
  );
}

/** Runs a function with a signal that Ctrl-C aborts. Clears the live lines at the end. */
export async function untilDetached<T>(
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

/** @param why undefined when the server is back */
export function reportConnectionState(view: View, why: string | undefined): void {
  view.say(
    why === undefined ? 'the server is back' : `the server is gone (${why}); the work continues; retrying`,
  );
}
