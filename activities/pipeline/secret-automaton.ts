/**
 * Finds all forms of secrets in a stream of bytes, with one table lookup per byte for any number of forms. The automaton makes
 * its states as the text needs them (the lazy construction of RE2 and ripgrep), because there would be too many.
 */
import { END, type Unit } from './secret-forms.js';

/** Number of states after which the automaton starts over: about 10 MB. */
const MAX_STATES = 4096;

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

export interface State {
  /** Length of the longest form that ends here, in bytes; 0 if none does. */
  readonly matched: number;
  /** Number of last bytes that may begin a form, or belong to a longer one than `matched`. */
  readonly open: number;
  readonly threads: readonly Thread[];
  /** By byte. */
  readonly next: (State | undefined)[];
}

export class SecretAutomaton {
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
