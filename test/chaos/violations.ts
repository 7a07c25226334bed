/** Violations of a run, by the check that found them. */

export const CHECKS = {
  'lost handle': 'a handle that was given out does not resolve',
  unfinished: 'an operation is neither closed nor waits for a person',
  'lost answer': 'a question is still open after its answer was acknowledged, or the work got another one',
  'two answers': 'two different answers to one question were acknowledged',
  'unexpected question': 'an operation asks although nothing in its work does',
  'wrong end': 'the outcome differs from that of a calm run',
  'went back': 'a poll shows an earlier status, progress or time than the poll before it',
  'broken stream':
    'an event stream that was read over many connections lacks, repeats or reorders what a new reader gets',
  'changed record': 'the record of a closed operation changed',
  'started twice': 'work was started more often than it was asked for',
  'not counted': 'the server lists more or fewer operations than were started',
  'step repeated': 'a step that is not idempotent ran again, or a part ran after a later one had begun',
  'step lost': 'an operation completed without some of its parts',
  'late step': 'a step waited for a time-out after the one before had ended',
  'not back': 'a service was not back within its limit',
  'left process': 'a process was left behind',
  'left file': 'a file was left behind',
  interrupted: 'the run did not come to its end',
} as const;

export type Check = keyof typeof CHECKS;

export interface Violation {
  check: Check;
  text: string;
}

const LONGEST_TEXT = 1_000;

export class Violations {
  readonly all: Violation[] = [];
  readonly #seen = new Set<string>();

  constructor(private readonly say: (line: string) => void = () => undefined) {}

  /** Adds a violation; the same one again counts once. */
  add(check: Check, text: string): void {
    const line = `${check}: ${text.slice(0, LONGEST_TEXT)}`;
    if (this.#seen.has(line)) return;
    this.#seen.add(line);
    this.all.push({ check, text: text.slice(0, LONGEST_TEXT) });
    this.say(`VIOLATION ${line}`);
  }
}
