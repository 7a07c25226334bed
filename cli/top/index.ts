/** `longhaul top`: the open operations on one screen, and their questions. */
import { EXIT } from '../client/exit-codes.js';
import { toCommandFailure } from '../client/failures.js';
import type { ChangesFilter } from '../follow/operation-changes.js';
import { readLog, readSteps } from '../client/operation-tools.js';
import type { Session } from '../client/session.js';
import type { LogAnswer, OperationSteps, Task } from '../client/wire.js';
import { sendAnswers } from '../questions/answers.js';
import { ask } from '../questions/questions.js';
import { capacity, detailsFrame, firstShown, listFrame, type FrameContext } from './frame.js';
import { Operations } from './operations.js';
import { Screen } from './screen.js';

const REDRAW_MS = 250;
/** Lines of the log to read. The screen shows the last ones. */
const LOG_TAIL = 100;

interface Details {
  task: Task;
  steps: OperationSteps;
  log: LogAnswer | undefined;
}

class Top {
  readonly #operations: Operations;
  readonly #screen: Screen;
  #selected: string | undefined;
  /** Token of the opened operation. */
  #opened: string | undefined;
  #details: Details | undefined;
  /** Token of an operation whose cancel waits for a y. */
  #cancelling: string | undefined;
  #notice: string | undefined;
  #trouble: string | undefined;
  #frame = 0;
  #isBusy = false;
  readonly #ended: Promise<void>;
  #end!: () => void;
  #wake: () => void = () => undefined;

  constructor(
    private readonly session: Session,
    filter: ChangesFilter,
    private readonly intervalMs: number,
  ) {
    this.#operations = new Operations(session, filter);
    this.#ended = new Promise((resolve) => (this.#end = resolve));
    this.#screen = new Screen(
      (name) => this.#onKey(name),
      () => this.#draw(),
    );
  }

  async run(): Promise<void> {
    let isOver = false;
    void this.#ended.then(() => (isOver = true));
    const timer = setInterval(() => this.#draw(), REDRAW_MS);
    try {
      while (!isOver) {
        await Promise.race([this.#refresh(), this.#ended]);
        this.#draw();
        const woken = new Promise<void>((resolve) => (this.#wake = resolve));
        let next: NodeJS.Timeout | undefined;
        const due = new Promise<void>((resolve) => (next = setTimeout(resolve, this.intervalMs)));
        await Promise.race([due, woken, this.#ended]);
        clearTimeout(next);
      }
    } finally {
      clearInterval(timer);
      this.#screen.close();
    }
  }

  async #refresh(): Promise<void> {
    try {
      if (this.#opened === undefined) await this.#operations.refresh(this.#visible());
      else this.#details = await this.#readDetails(this.#opened);
      this.#trouble = undefined;
    } catch (error) {
      this.#trouble = toCommandFailure(error).message;
    }
    const rows = this.#operations.rows;
    if (!rows.some(({ operation }) => operation.token === this.#selected))
      this.#selected = rows[0]?.operation.token;
  }

  #visible(): string[] {
    const from = firstShown(this.#index(), this.#screen.rows);
    return this.#operations.rows
      .slice(from, from + capacity(this.#screen.rows))
      .map(({ operation }) => operation.token);
  }

  #index(): number {
    return Math.max(
      0,
      this.#operations.rows.findIndex(({ operation }) => operation.token === this.#selected),
    );
  }

  async #readDetails(token: string): Promise<Details> {
    const [task, steps] = await Promise.all([this.session.task(token), readSteps(this.session, token)]);
    const job = steps.children?.findLast(({ steps: own }) => own.some(({ startedAt }) => startedAt));
    const position = job ? job.steps.findLastIndex(({ startedAt }) => startedAt) + 1 : 0;
    const step = job ? { step: `${job.name}/${position}` } : {};
    // A log may be missing before its first line.
    const log = await readLog(this.session, { token, tail: LOG_TAIL, ...step }).catch(() => undefined);
    return { task, steps, log };
  }

  #draw(): void {
    if (this.#isBusy) return;
    const context: FrameContext = {
      columns: this.#screen.columns,
      rows: this.#screen.rows,
      frame: this.#frame++,
      nowMs: Date.now(),
      url: this.session.url.href,
      trouble: this.#trouble,
      notice: this.#cancelling === undefined ? this.#notice : `Cancel ${this.#cancelling}? y/n`,
    };
    const details = this.#details;
    this.#screen.draw(
      this.#opened !== undefined && details
        ? detailsFrame(details.task, details.steps, details.log, context)
        : listFrame(this.#operations.rows, this.#index(), context),
    );
  }

  #onKey(name: string): void {
    this.#notice = undefined;
    if (name === 'ctrl-c') return this.#end();
    if (this.#cancelling !== undefined) {
      const token = this.#cancelling;
      this.#cancelling = undefined;
      if (name === 'y') void this.#cancel(token);
      return this.#draw();
    }
    const token = this.#opened ?? this.#selected;
    switch (name) {
      case 'q':
        return this.#end();
      case 'escape':
      case 'left':
      case 'backspace':
        [this.#opened, this.#details] = [undefined, undefined];
        return this.#wake();
      case 'up':
      case 'k':
        return this.#move(-1);
      case 'down':
      case 'j':
        return this.#move(1);
      case 'pageup':
        return this.#move(-capacity(this.#screen.rows));
      case 'pagedown':
        return this.#move(capacity(this.#screen.rows));
      case 'return':
      case 'enter':
      case 'o':
        [this.#opened, this.#details] = [token, undefined];
        return this.#wake();
      case 'a':
        if (token !== undefined) void this.#answer(token);
        return;
      case 'c':
        this.#cancelling = token;
        return this.#draw();
    }
  }

  #move(by: number): void {
    const { rows } = this.#operations;
    const to = Math.min(rows.length - 1, Math.max(0, this.#index() + by));
    this.#selected = rows[to]?.operation.token;
    this.#draw();
    this.#wake();
  }

  async #cancel(token: string): Promise<void> {
    await this.#attempt(async () => {
      await this.session.request('tasks/cancel', { taskId: token });
      this.#notice = `cancel of ${token} requested`;
    });
  }

  /** Asks the open questions with the prompts of `longhaul answer`, below the place where the command was started. */
  async #answer(token: string): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    await this.#attempt(async () => {
      const { inputRequests = {} } = await this.session.task(token);
      if (Object.keys(inputRequests).length === 0) {
        this.#notice = `${token}: no question is open`;
        return;
      }
      this.#screen.leave();
      try {
        for (const [key, question] of Object.entries(inputRequests)) {
          const response = await ask(question, new AbortController().signal, token);
          if (typeof response === 'string') return;
          const { lines } = await sendAnswers(this.session, token, { [key]: response });
          this.#notice = `${token}: ${lines.join('; ')}`;
        }
      } finally {
        this.#screen.enter();
      }
    });
    this.#isBusy = false;
    this.#wake();
  }

  async #attempt(run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      this.#notice = toCommandFailure(error, this.session.url).message;
    }
    this.#draw();
  }
}

/** Shows the screen until q or Ctrl-C. @returns the exit code */
export async function runTop(session: Session, filter: ChangesFilter, intervalMs: number): Promise<number> {
  // Request something first, so that an unreachable server fails the command.
  await session.listTools();
  await new Top(session, filter, intervalMs).run();
  return EXIT.ok;
}
