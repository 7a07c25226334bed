/** How a watched task is shown: a live line in a terminal, plain lines elsewhere, JSON lines for programs. */
import { say } from '../console.js';
import { printJson } from './command.js';
import { statusLine } from './status-line.js';
import { oneLine } from './table.js';
import { isClosed, progressOf, type Task } from './wire.js';

const REDRAW_MS = 100;
/** How often a plain log says how far the work is, in milliseconds. */
const PLAIN_INTERVAL_MS = 30_000;

export interface View {
  /** A new state. How a closed task is shown is not the view's business, except for programs. */
  show(task: Task): void;
  /** A line that stays. */
  say(line: string): void;
  /** Takes the live line away, for a prompt or for good; the next state brings it back. */
  pause(): void;
}

/** @param json wanted by --json */
export function createView(json: boolean): View {
  if (json) return new JsonView();
  return isTerminal() ? new TerminalView() : new PlainView();
}

/** For waiting without a show; in a terminal there is a live line nevertheless. */
export function createQuietView(json: boolean): View {
  return isTerminal() && !json ? new TerminalView() : new QuietView();
}

/** Can somebody be asked? */
export function canAsk(): boolean {
  return process.stdin.isTTY && isTerminal();
}

function isTerminal(): boolean {
  return process.stderr.isTTY && process.env['TERM'] !== 'dumb';
}

class TerminalView implements View {
  #task: Task | undefined;
  #frame = 0;
  #timer: NodeJS.Timeout | undefined;

  show(task: Task): void {
    if (isClosed(task)) return;
    this.#task = task;
    this.#timer ??= setInterval(() => this.#draw(), REDRAW_MS);
  }

  say(line: string): void {
    this.#clear();
    say(line);
  }

  pause(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#clear();
    this.#task = undefined;
  }

  #draw(): void {
    if (!this.#task) return;
    const line = statusLine(this.#task, this.#frame++, Date.now(), process.stderr.columns || 80);
    process.stderr.write(`\r\u001b[2K${line}`);
  }

  #clear(): void {
    if (this.#task) process.stderr.write('\r\u001b[2K');
  }
}

class PlainView implements View {
  #stage = '';
  #saidMs = 0;
  #said = '';

  show(task: Task): void {
    if (isClosed(task)) return;
    const { stage } = progressOf(task);
    const where = `${task.status} ${stage ?? ''}`;
    const line = oneLine([task.status, task.statusMessage ?? stage].filter(Boolean).join(': '));
    const isDue = where !== this.#stage || Date.now() - this.#saidMs >= PLAIN_INTERVAL_MS;
    if (!isDue || line === this.#said) return;
    [this.#stage, this.#saidMs, this.#said] = [where, Date.now(), line];
    say(line);
  }

  say(line: string): void {
    say(line);
  }

  pause(): void {
    // Nothing is live.
  }
}

class JsonView implements View {
  show(task: Task): void {
    printJson(task);
  }

  say(line: string): void {
    say(line);
  }

  pause(): void {
    // Nothing is live.
  }
}

/** Says what has to be known, and shows nothing of the way. */
class QuietView implements View {
  show(): void {
    // Not even states.
  }

  say(line: string): void {
    say(line);
  }

  pause(): void {
    // Nothing is live.
  }
}
