/**
 * Masks the values of secrets in logs, outputs and file names. It works on bytes, because a log may be binary, and across
 * chunks: it holds back bytes that may start a secret until the next chunk.
 */
import { SecretAutomaton, type State } from './secret-automaton.js';
import { formsOf } from './secret-forms.js';

const MASK = Buffer.from('***');

export interface Masking {
  /** A masker for one stream of bytes. @param covered where another masker's stream continues: {@link HeldBytes.covered}. Default: 0 */
  stream(covered?: number): StreamMasker;
  text(text: string): string;
}

/** Bytes that a masker holds back, because they may start a secret. */
export interface HeldBytes {
  count: number;
  /** How many of them belong to a secret whose mask has been returned already. */
  covered: number;
}

export interface StreamMasker {
  readonly held: HeldBytes;
  /** Adds a chunk. @returns the bytes that are safe to show */
  write(chunk: Buffer): Buffer;
  end(): Buffer;
}

/** @param secrets values; {@link formsOf} lists their masked spellings */
export function masking(secrets: readonly string[]): Masking {
  if (!secrets.some(Boolean)) return NOTHING_MASKED;
  const automaton = new SecretAutomaton(formsOf(secrets));
  return {
    stream: (covered = 0) => new SecretMasker(automaton, covered),
    text(text) {
      const masker = new SecretMasker(automaton, 0);
      return Buffer.concat([masker.write(Buffer.from(text)), masker.end()]).toString();
    },
  };
}

const NOTHING_MASKED: Masking = {
  stream: () => ({ held: { count: 0, covered: 0 }, write: (chunk) => chunk, end: () => Buffer.alloc(0) }),
  text: (text) => text,
};

/** Masks everything, for a step with secrets of unknown values. */
export const EVERYTHING_MASKED: Masking = {
  stream: () => ({
    held: { count: 0, covered: 0 },
    write: () => Buffer.alloc(0),
    end: () => Buffer.alloc(0),
  }),
  text: () => String(MASK),
};

/** A range from the start of the held bytes; it may extend into later ones. */
interface Occurrence {
  from: number;
  to: number;
}

class SecretMasker implements StreamMasker {
  #held: Buffer = Buffer.alloc(0);
  /** Secrets that begin in the held bytes. */
  #found: Occurrence[] = [];
  #state: State;

  /** @param heldCovered see {@link HeldBytes.covered} */
  constructor(
    private readonly automaton: SecretAutomaton,
    private heldCovered: number,
  ) {
    this.#state = automaton.start;
  }

  get held(): HeldBytes {
    return { count: this.#held.length, covered: this.heldCovered };
  }

  write(chunk: Buffer): Buffer {
    const bytes = this.#held.length ? Buffer.concat([this.#held, chunk]) : chunk;
    for (let at = this.#held.length; at < bytes.length; at += 1) {
      this.#state = this.automaton.next(this.#state, bytes[at]!);
      const { matched } = this.#state;
      if (matched > 0) this.#found.push({ from: at + 1 - matched, to: at + 1 });
    }
    return this.#show(bytes, bytes.length - this.#state.open);
  }

  end(): Buffer {
    this.#state = this.automaton.start;
    return this.#show(this.#held, this.#held.length);
  }

  /** Masks the bytes before `cut`, and holds the rest. */
  #show(bytes: Buffer, cut: number): Buffer {
    const shown: Buffer[] = [];
    let shownTo = this.heldCovered;
    const found = this.#found.sort((one, other) => one.from - other.from);
    for (const { from, to } of found) {
      if (from >= cut) break;
      // Occurrences may overlap: all are masked whole.
      if (from >= shownTo) shown.push(bytes.subarray(shownTo, from), MASK);
      shownTo = Math.max(shownTo, to);
    }
    if (shownTo < cut) shown.push(bytes.subarray(shownTo, cut));
    this.#found = found.flatMap(({ from, to }) => (from < cut ? [] : [{ from: from - cut, to: to - cut }]));
    this.#held = Buffer.from(bytes.subarray(cut));
    this.heldCovered = Math.max(0, shownTo - cut);
    return Buffer.concat(shown);
  }
}
