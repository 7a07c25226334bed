/** Gathers what a runner reports into the tests of one run. */
import { isAbsolute, relative } from 'node:path';
import type { EndEvent, Failure, TestCase, TestEvent } from './types.js';

/** Frames of runners in a stack; those of the project say where. */
const FOREIGN_FRAME = /^\s+at .*(\(?node:|\/node_modules\/|new Promise \(<anonymous>\))/;

// eslint-disable-next-line no-control-regex
const COLOURS = /\u001b\[[0-9;]*m/g;

const MESSAGE_LINES = 20;
const MESSAGE_CHARACTERS = 2_000;

/** First lines of a message, without the colours of a terminal. */
export function firstLines(message: string, most = MESSAGE_LINES): string {
  const all = message.replace(COLOURS, '').trim().split('\n');
  const lines = all.filter((line) => !FOREIGN_FRAME.test(line) && line.trim() !== '');
  const text = lines.slice(0, most).join('\n');
  return text.length > MESSAGE_CHARACTERS || lines.length > most
    ? `${text.slice(0, MESSAGE_CHARACTERS).trimEnd()}\n...`
    : text;
}

export class Collector {
  readonly tests: TestCase[] = [];
  /** Files whose tests have all ended. */
  filesDone = 0;
  /** From pytest only. */
  files: string[] = [];
  isDone = false;
  readonly #running = new Map<string, number>();
  readonly #names = new Map<string, number>();
  #fresh: Failure[] = [];

  /**
   * @param folder of the suite
   * @param dropsSkipped runners call tests skipped that weren't asked for
   */
  constructor(
    private readonly folder: string,
    private readonly dropsSkipped: boolean,
  ) {}

  take(event: TestEvent): void {
    if (event.event === 'plan') this.files = event.files ?? [];
    if (event.event === 'done') this.isDone = true;
    if (event.event === 'file') this.filesDone += 1;
    if (event.event === 'start') this.#count(this.#labelOf(event), 1);
    if (event.event === 'message') {
      const file = this.#fileOf(event.file);
      const test = this.tests.find((one) => one.file === file && one.name === event.name);
      if (test) test.message = firstLines(event.message);
    }
    if (event.event === 'end') this.#end(event);
  }

  /** Tests that have begun and not ended. */
  get running(): string[] {
    return [...this.#running.keys()].slice(0, 20);
  }

  get failed(): number {
    return this.tests.filter(({ status }) => status === 'failed').length;
  }

  /** Failures since the last call. */
  takeFailures(): Failure[] {
    const fresh = this.#fresh;
    this.#fresh = [];
    return fresh;
  }

  #end({ file: path, name: given, status, ms, message, startedAs = given, isParent }: EndEvent): void {
    const file = this.#fileOf(path);
    this.#count(this.#labelOf({ file: path, name: startedAs }), -1);
    if (isParent || (this.dropsSkipped && status === 'skipped')) return;
    const key = `${file}\0${given}`;
    const before = this.#names.get(key) ?? 0;
    this.#names.set(key, before + 1);
    const name = before === 0 ? given : `${given} (${before + 1})`;
    const failed = status === 'failed';
    this.tests.push({ file, name, status, ms, ...(failed && { message: firstLines(message ?? '') }) });
    if (failed) this.#fresh.push({ file, name, message: firstLines(message ?? '', 5) });
  }

  #count(label: string, by: number): void {
    // Not below 0: some runners end tests that they never began, such as skipped ones.
    const count = (this.#running.get(label) ?? 0) + by;
    if (count > 0) this.#running.set(label, count);
    else this.#running.delete(label);
  }

  #labelOf({ file, name }: { file: string; name: string }): string {
    return `${this.#fileOf(file)} > ${name}`;
  }

  #fileOf(path: string): string {
    return isAbsolute(path) ? relative(this.folder, path) : path;
  }
}
