/** The open questions of a task. Asks each once in a terminal, else prints it once with how to answer it. */
import type PQueue from 'p-queue';
import { answerInstructions, sendAnswers } from './answers.js';
import { ask } from './questions.js';
import { toCommandFailure } from '../client/failures.js';
import type { Session } from '../client/session.js';
import type { View } from '../terminal/views.js';
import type { InputRequest } from '../client/wire.js';

/** `prompt`: ask in the terminal. `print`: print how to answer. `silent`: programs find the questions in the task. */
export type QuestionMode = 'prompt' | 'print' | 'silent';

export interface QuestionsOptions {
  session: Session;
  taskId: string;
  view: View;
  manner: QuestionMode;
  /** Serializes prompts and printed results. */
  turns: PQueue;
  /** Whether several tasks are watched, so that each question must name its task. */
  isNamed: boolean;
  leave: () => void;
}

export class QuestionPrompter {
  readonly #seen = new Set<string>();
  #open: Record<string, InputRequest> = {};
  #current: { key: string; gone: AbortController } | undefined;
  #running: Promise<void> | undefined;

  constructor(private readonly options: QuestionsOptions) {}

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
    const { manner, session, taskId } = this.options;
    for (;;) {
      const next = Object.entries(this.#open).find(([key]) => !this.#seen.has(key));
      if (!next) return;
      this.#seen.add(next[0]);
      if (manner === 'silent') continue;
      if (manner === 'prompt' && next[1].method === 'elicitation/create') await this.#ask(...next);
      else {
        const [question = '', ...how] = answerInstructions(session, taskId, ...next);
        this.#say(question);
        for (const line of how) this.options.view.say(line);
      }
    }
  }

  async #ask(key: string, question: InputRequest): Promise<void> {
    const gone = new AbortController();
    this.#current = { key, gone };
    const { turns, view } = this.options;
    try {
      await turns.add(async () => {
        if (gone.signal.aborted) return;
        view.hold();
        try {
          await this.#prompt(key, question, gone.signal);
        } finally {
          view.release();
        }
      });
    } finally {
      this.#current = undefined;
    }
  }

  async #prompt(key: string, question: InputRequest, gone: AbortSignal): Promise<void> {
    const { session, taskId, isNamed, leave } = this.options;
    while (!gone.aborted) {
      const response = await ask(question, gone, isNamed ? taskId : undefined);
      if (response === 'left') return leave();
      if (response === 'gone') return this.#say(`question ${key} is no longer open`);
      try {
        const { lines, isRefused } = await sendAnswers(session, taskId, { [key]: response });
        if (isRefused) for (const line of lines) this.#say(line);
        return;
      } catch (error) {
        this.#say(toCommandFailure(error, session.url).message);
      }
    }
  }

  #say(line: string): void {
    const { view, taskId, isNamed } = this.options;
    view.say(isNamed && !line.startsWith(`${taskId}: `) ? `${taskId}: ${line}` : line);
  }
}
