/** Writes log lines to standard output: unchanged, with numbers, or as JSON. */
import { writeEscaped } from '../console.js';
import { escapeControls, escapeStyled, jsonText, splitStyle } from './terminal-text.js';
import type { LogAnswer, LogAnswerLine } from '../client/wire.js';

const PLAIN_STYLE = '\u001b[0m';

export interface WriterOptions {
  json: boolean;
  numbers: boolean;
  /** Whether the output is a terminal, which interprets control characters. */
  isTerminal: boolean;
}

export class LogWriter {
  /** Number of the partly written line. */
  #openLine: number | undefined;
  #held = '';
  #isStyled = false;

  constructor(private readonly options: WriterOptions) {}

  async page({ step, lines }: LogAnswer): Promise<void> {
    await this.#put(
      this.options.json
        ? lines.map((line) => `${jsonText({ step, ...line })}\n`).join('')
        : lines.map((line) => this.#text(line)).join(''),
    );
  }

  /** A line between the logs of two steps. */
  async header(line: string): Promise<void> {
    if (!this.options.json) await this.#put(`${this.#ended()}== ${escapeControls(line)}\n`);
  }

  /** Ends the output: resets a terminal's style and ends an open line. */
  async end(): Promise<void> {
    if (this.options.isTerminal && !this.options.json) await this.#put(this.#ended());
  }

  #text({ number, text, is_continued, is_unfinished, line_bytes }: LogAnswerLine): string {
    const isSame = is_continued === true && this.#openLine === number;
    const begin = isSame ? '' : `${this.#closedLine()}${this.options.numbers ? `${number}: ` : ''}`;
    const isUnfinished = is_unfinished === true && line_bytes === undefined;
    this.#openLine = isUnfinished ? number : undefined;
    return `${begin}${this.#shown(text, isUnfinished)}${isUnfinished ? '' : '\n'}`;
  }

  #shown(text: string, isUnfinished: boolean): string {
    if (!this.options.isTerminal) return text;
    const [whole, rest] = isUnfinished
      ? splitStyle(this.#held + text)
      : [this.#held + text.replace(/\r$/, ''), ''];
    this.#held = rest;
    const shown = escapeStyled(whole);
    this.#isStyled ||= shown.includes('\u001b');
    return shown;
  }

  #closedLine(): string {
    const text = `${escapeControls(this.#held)}${this.#openLine === undefined ? '' : '\n'}`;
    this.#held = '';
    this.#openLine = undefined;
    return text;
  }

  #ended(): string {
    const text = `${this.#isStyled ? PLAIN_STYLE : ''}${this.#closedLine()}`;
    this.#isStyled = false;
    return text;
  }

  async #put(text: string): Promise<void> {
    if (text !== '') await writeEscaped(text);
  }
}
