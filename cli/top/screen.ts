/** The whole terminal as a screen: alternate buffer, keys, resizes. Restores the terminal however the process ends. */
import { emitKeypressEvents, type Key } from 'node:readline';
import { escapeLine } from '../terminal/terminal-text.js';
import { padTo, truncateTo } from '../terminal/text-width.js';
import { draw, drawNow, Sequence } from '../console.js';

/** Escape sequences (xterm, "Functions using CSI"): alternate buffer and cursor; cursor home; clear to the end. */
const ENTER = new Sequence('\u001b[?1049h\u001b[?25l');
const LEAVE = new Sequence('\u001b[?25h\u001b[?1049l');
const HOME = new Sequence('\u001b[H');
const CLEAR_LINE = new Sequence('\u001b[K');
const CLEAR_REST = new Sequence('\u001b[J');
const NEXT_LINE = new Sequence('\r\n');
const INVERSE = new Sequence('\u001b[7m');
const PLAIN = new Sequence('\u001b[0m');

/** Exit codes as shells show them: 128 plus the number of the signal. */
const ENDING_SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** A line of the screen; the selected one is inverse. */
export type ScreenLine = string | { selected: string };

export class Screen {
  #isShown = false;
  readonly #onKey: (text: string | undefined, key: Key) => void;
  readonly #restore = () => this.#leave();

  /** @param onKey called with the name of a key, `up`, or its character */
  constructor(
    onKey: (name: string) => void,
    private readonly onResize: () => void,
  ) {
    this.#onKey = (text, key) => onKey(key.ctrl === true ? `ctrl-${key.name}` : (key.name ?? text ?? ''));
    emitKeypressEvents(process.stdin);
    process.on('exit', this.#restore);
    for (const [signal, code] of Object.entries(ENDING_SIGNALS))
      process.once(signal, () => process.exit(code));
    this.enter();
  }

  get rows(): number {
    return process.stdout.rows || 24;
  }

  get columns(): number {
    return process.stdout.columns || 80;
  }

  enter(): void {
    if (this.#isShown) return;
    this.#isShown = true;
    process.stdin.setRawMode(true);
    process.stdin.resume();
    process.stdin.on('keypress', this.#onKey);
    process.stdout.on('resize', this.onResize);
    drawNow('stdout', ENTER);
  }

  /** Gives the terminal back, for prompts or permanently. */
  leave(): void {
    this.#leave();
    process.stdin.pause();
  }

  #leave(): void {
    if (!this.#isShown) return;
    this.#isShown = false;
    process.stdin.off('keypress', this.#onKey);
    process.stdout.off('resize', this.onResize);
    process.stdin.setRawMode(false);
    drawNow('stdout', LEAVE);
  }

  close(): void {
    this.leave();
    process.off('exit', this.#restore);
  }

  /** Draws lines, each cut to the terminal's width. */
  draw(lines: readonly ScreenLine[]): void {
    if (!this.#isShown) return;
    const width = this.columns - 1;
    const cut = (text: string) => truncateTo(escapeLine(text), width);
    const shown = lines
      .slice(0, this.rows)
      .flatMap((line, index) => [
        ...(index > 0 ? [NEXT_LINE] : []),
        ...(typeof line === 'string' ? [cut(line)] : [INVERSE, padTo(cut(line.selected), width), PLAIN]),
        CLEAR_LINE,
      ]);
    draw('stdout', HOME, ...shown, CLEAR_REST);
  }
}
