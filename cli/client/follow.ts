/** Waiting for a task in front of somebody: shows it, asks its questions, and lets Ctrl-C leave it alone. */
import { CommandFailure } from '../failure.js';
import { howToAnswer } from './answers.js';
import { isJson } from './command.js';
import type { Command } from 'commander';
import { EXIT } from './exit-codes.js';
import { toFailure } from './failures.js';
import type { Session } from './session.js';
import { canAsk, createView, type View } from './views.js';
import { watchTask } from './watch.js';
import { isClosed, type InputRequest, type Task } from './wire.js';

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
  const leaving = new AbortController();
  const leave = () => leaving.abort();
  process.once('SIGINT', leave);
  // Programs find the questions in the task.
  const manner = isJson(command) ? 'silent' : canAsk() ? 'prompt' : 'tell';
  const questions = new Questions(session, taskId, view, leave, manner);
  try {
    const trouble = (reason?: string) =>
      view.say(
        reason === undefined
          ? 'the server is back'
          : `the server is gone (${reason}); the work goes on, trying again`,
      );
    for await (const task of watchTask(session, taskId, {
      signal: leaving.signal,
      isKnown,
      onTrouble: trouble,
    })) {
      if (!questions.isAsking || isClosed(task)) view.show(task);
      questions.update(isClosed(task) ? {} : (task.inputRequests ?? {}));
      if (!isClosed(task)) continue;
      await questions.ended();
      return task;
    }
    await questions.ended();
    throw new CommandFailure(
      `detached; ${taskId} goes on. Come back with: ${session.hint('watch', taskId)}`,
      EXIT.detached,
    );
  } finally {
    process.off('SIGINT', leave);
    view.pause();
  }
}

/** The open questions of a task: asked one by one in a terminal, else told how to be answered; each once. */
class Questions {
  readonly #seen = new Set<string>();
  #open: Record<string, InputRequest> = {};
  #current: { key: string; gone: AbortController } | undefined;
  #running: Promise<void> | undefined;

  constructor(
    private readonly session: Session,
    private readonly taskId: string,
    private readonly view: View,
    private readonly leave: () => void,
    private readonly manner: 'prompt' | 'tell' | 'silent',
  ) {}

  get isAsking(): boolean {
    return this.#current !== undefined;
  }

  /** Takes the questions that are open now. */
  update(open: Record<string, InputRequest>): void {
    this.#open = open;
    if (this.#current && !(this.#current.key in open)) this.#current.gone.abort();
    this.#running ??= this.#askAll().finally(() => (this.#running = undefined));
  }

  /** Resolves once no prompt is on the screen. */
  async ended(): Promise<void> {
    this.#open = {};
    this.#current?.gone.abort();
    await this.#running;
  }

  async #askAll(): Promise<void> {
    for (;;) {
      const next = Object.entries(this.#open).find(([key]) => !this.#seen.has(key));
      if (!next) return;
      this.#seen.add(next[0]);
      if (this.manner === 'silent') continue;
      if (this.manner === 'prompt' && next[1].method === 'elicitation/create') await this.#ask(...next);
      else for (const line of howToAnswer(this.session, this.taskId, ...next)) this.view.say(line);
    }
  }

  async #ask(key: string, question: InputRequest): Promise<void> {
    const gone = new AbortController();
    this.#current = { key, gone };
    const { ask } = await import('./questions.js');
    try {
      while (!gone.signal.aborted) {
        this.view.pause();
        const response = await ask(question, gone.signal);
        if (response === 'left') return this.leave();
        if (response === 'gone') return this.view.say(`question ${key} is no longer open`);
        try {
          await this.session.request('tasks/update', {
            taskId: this.taskId,
            inputResponses: { [key]: response },
          });
          return;
        } catch (error) {
          this.view.say(toFailure(error, this.session.url).message);
        }
      }
    } finally {
      this.#current = undefined;
    }
  }
}
