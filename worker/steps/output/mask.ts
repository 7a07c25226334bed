/**
 * Masks the values of secrets in logs, outputs and file names. It works on bytes, because a log may be binary, and across
 * chunks: it holds back bytes that may start a secret until the next chunk.
 */
import { END, formsOf, type Unit } from './secrets.js';

const MASK = Buffer.from('***');
/** Number of states after which the automaton starts over: about 10 MB. */
const MAX_STATES = 4096;

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

interface Form {
  units: readonly Unit[];
  /** For each unit, the number of its first node among the nodes of all forms. */
  firstNodes: number[];
}

/** A place in a form that the previous bytes lead to. */
interface Thread {
  form: Form;
  unit: number;
  node: number;
  /** Number of bytes since the form's beginning. */
  length: number;
}

interface State {
  /** Length of the longest form that ends here, in bytes; 0 if none does. */
  readonly matched: number;
  /** Number of last bytes that may begin a form, or belong to a longer one than `matched`. */
  readonly open: number;
  readonly threads: readonly Thread[];
  /** By byte. */
  readonly next: (State | undefined)[];
}

/**
 * Finds all forms of secrets in a stream of bytes, with one table lookup per byte for any number of forms. It makes its states as
 * the text needs them (the lazy construction of RE2 and ripgrep), because there would be too many.
 */
class SecretAutomaton {
  readonly #forms: Form[];
  /** The forms that may begin with a byte. */
  readonly #startingWith: Form[][] = Array.from({ length: 256 }, () => []);
  readonly #states = new Map<string, State>();
  #start: State;

  constructor(forms: readonly (readonly Unit[])[]) {
    let nodes = 0;
    this.#forms = forms.map((units) => ({
      units,
      firstNodes: units.map((unit) => (nodes += unit.nodes.length) - unit.nodes.length),
    }));
    for (const form of this.#forms)
      for (const byte of form.units[0]!.nodes[0]!.keys()) this.#startingWith[byte]!.push(form);
    this.#start = this.#stateOf([], 0);
  }

  get start(): State {
    return this.#start;
  }

  next(state: State, byte: number): State {
    return (state.next[byte] ??= this.#step(state, byte));
  }

  #step(state: State, byte: number): State {
    // The longest thread at a place covers the others.
    const reached = new Map<number, Thread>();
    let matched = 0;
    const reach = (form: Form, unit: number, node: number, length: number) => {
      if (unit === form.units.length) {
        matched = Math.max(matched, length);
        return;
      }
      const place = form.firstNodes[unit]! + node;
      if (length > (reached.get(place)?.length ?? 0)) reached.set(place, { form, unit, node, length });
    };
    const advance = ({ form, unit, node, length }: Thread) => {
      for (const target of form.units[unit]!.nodes[node]!.get(byte) ?? [])
        if (target === END) reach(form, unit + 1, 0, length + 1);
        else reach(form, unit, target, length + 1);
    };
    state.threads.forEach(advance);
    for (const form of this.#startingWith[byte]!) advance({ form, unit: 0, node: 0, length: 0 });
    return this.#stateOf([...reached.entries()], matched);
  }

  #stateOf(reached: [place: number, thread: Thread][], matched: number): State {
    const sorted = reached.sort(([one], [other]) => one - other);
    const key = `${matched} ${sorted.map(([place, { length }]) => `${place}:${length}`).join(' ')}`;
    const known = this.#states.get(key);
    if (known) return known;
    if (this.#states.size >= MAX_STATES) {
      this.#states.clear();
      this.#start = this.#stateOf([], 0);
    }
    const threads = sorted.map(([, thread]) => thread);
    const open = threads.reduce((longest, { length }) => Math.max(longest, length), 0);
    const state: State = { matched, open, threads, next: Array<State | undefined>(256).fill(undefined) };
    this.#states.set(key, state);
    return state;
  }
}
