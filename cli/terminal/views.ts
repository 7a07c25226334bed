/** Views of watched tasks: live lines in a terminal, plain lines elsewhere, JSON lines for programs. */
import { draw, printJson, say, Sequence } from '../console.js';
import { statusLine } from './status-line.js';
import { oneLine } from './table.js';
import { columnsOf } from './text-width.js';
import { isClosed, progressOf, type Task } from '../client/wire.js';

const REDRAW_MS = 100;
const NEXT_LINE = new Sequence('\n');
/** Interval of progress lines in plain output. */
const PLAIN_INTERVAL_MS = 30_000;

export interface View {
  /** Shows a new state. Only the JSON view shows a closed task's outcome. */
  show(task: Task): void;
  /** Prints a permanent line. */
  say(line: string): void;
  /** Removes the live lines, for a prompt or permanently. New states are still recorded. */
  hold(): void;
  /** Shows the live lines again. */
  release(): void;
}

/** @param taskIds the watched tasks; several are labelled */
export function createView(json: boolean, taskIds: string[] = []): View {
  if (json) return new JsonView();
  return isTerminal() ? new TerminalView(taskIds) : new PlainView(taskIds.length > 1);
}

/** View for quiet waits; a terminal still shows a live line. */
export function createQuietView(json: boolean): View {
  return isTerminal() && !json ? new TerminalView([]) : new QuietView();
}

/** Whether questions can be asked in the terminal. */
export function isInteractive(): boolean {
  return process.stdin.isTTY && isTerminal();
}

function isTerminal(): boolean {
  return process.stderr.isTTY && process.env['TERM'] !== 'dumb';
}

/** A live line for each open task, redrawn below all other output. */
class TerminalView implements View {
  readonly #tasks = new Map<string, Task>();
  readonly #labels: Map<string, string>;
  #frame = 0;
  #timer: NodeJS.Timeout | undefined;
  #isHeld = false;
  /** Lines on the screen; the cursor is in the last one. */
  #drawn = 0;

  constructor(taskIds: string[]) {
    this.#labels = labelsOf(taskIds);
  }

  show(task: Task): void {
    if (isClosed(task)) this.#tasks.delete(task.taskId);
    else this.#tasks.set(task.taskId, task);
    this.#run();
  }

  say(line: string): void {
    this.#clear();
    say(line);
  }

  hold(): void {
    this.#isHeld = true;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#clear();
  }

  release(): void {
    this.#isHeld = false;
    this.#run();
  }

  #run(): void {
    if (this.#isHeld || this.#tasks.size === 0) return;
    this.#timer ??= setInterval(() => this.#draw(), REDRAW_MS);
  }

  #draw(): void {
    const [columns, most] = [columnsOf('stderr'), Math.max(1, (process.stderr.rows || 24) - 1)];
    const frame = this.#frame++;
    const all = [...this.#tasks.values()].map((task) => this.#line(task, frame, columns));
    const lines =
      all.length > most ? [...all.slice(0, most - 1), `... and ${all.length - most + 1} more`] : all;
    this.#clear();
    draw('stderr', ...lines.flatMap((line, index) => (index > 0 ? [NEXT_LINE, line] : [line])));
    this.#drawn = lines.length;
  }

  #line(task: Task, frame: number, columns: number): string {
    const label = this.#labels.get(task.taskId);
    if (label === undefined) return statusLine(task, frame, Date.now(), columns);
    const room = columns - label.length - 1;
    return `${label} ${statusLine(task, frame, Date.now(), room)}`;
  }

  #clear(): void {
    if (this.#drawn === 0) return;
    const up = this.#drawn > 1 ? `\u001b[${this.#drawn - 1}A` : '';
    draw('stderr', new Sequence(`\r${up}\u001b[J`));
    this.#drawn = 0;
  }
}

/** Shortest unique prefixes of at least 8 characters; none for a single task. */
function labelsOf(taskIds: string[]): Map<string, string> {
  if (taskIds.length < 2) return new Map();
  const longest = Math.max(...taskIds.map((taskId) => taskId.length));
  let length = Math.min(8, longest);
  while (length < longest && new Set(taskIds.map((taskId) => taskId.slice(0, length))).size < taskIds.length)
    length += 1;
  return new Map(
    taskIds.map((taskId) => [taskId, taskId.slice(0, length).padEnd(Math.min(length, longest))]),
  );
}

/** Prints notices only, no progress. */
class QuietView implements View {
  show(_task: Task): void {
    // Not even states.
  }

  say(line: string): void {
    say(line);
  }

  hold(): void {
    // Nothing is live.
  }

  release(): void {
    // Nothing is live.
  }
}

class PlainView extends QuietView {
  readonly #last = new Map<string, { stage: string; saidMs: number; said: string }>();

  constructor(private readonly isNamed: boolean) {
    super();
  }

  override show(task: Task): void {
    if (isClosed(task)) return;
    const last = this.#last.get(task.taskId);
    const { stage } = progressOf(task);
    const where = `${task.status} ${stage ?? ''}`;
    const line = oneLine([task.status, task.statusMessage ?? stage].filter(Boolean).join(': '));
    const isDue = where !== last?.stage || performance.now() - last.saidMs >= PLAIN_INTERVAL_MS;
    if (!isDue || line === last?.said) return;
    this.#last.set(task.taskId, { stage: where, saidMs: performance.now(), said: line });
    say(this.isNamed ? `${task.taskId}: ${line}` : line);
  }
}

class JsonView extends QuietView {
  override show(task: Task): void {
    printJson(task);
  }
}
