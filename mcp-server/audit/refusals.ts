/** Bounds the lines about refusals: a caller that is refused a thousand times a second makes a few lines, with a count. */

/** Refusals with a line of their own, for each caller in each period. */
const MOST_LINES = 5;
/** Callers that are distinguished in each period; all others count as one. */
const MOST_CALLERS = 50;

interface Count<Entry> {
  lines: number;
  suppressed: number;
  last: Entry;
}

export class Refusals<Entry> {
  /** Caller -> its refusals in this period. */
  readonly #counts = new Map<string, Count<Entry>>();
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param periodMs in milliseconds
   * @param write writes a line
   * @param summarize gets the last suppressed refusal of a caller, or of several, and how many there were
   */
  constructor(
    private readonly periodMs: number,
    private readonly write: (entry: Entry) => void,
    private readonly summarize: (last: Entry, suppressed: number, isOfSeveral: boolean) => void,
  ) {}

  /** @param caller the principal, or what distinguishes callers without one */
  add(caller: string, entry: Entry): void {
    const key = this.#counts.has(caller) || this.#counts.size < MOST_CALLERS ? caller : OTHERS;
    const count = this.#counts.get(key) ?? { lines: 0, suppressed: 0, last: entry };
    this.#counts.set(key, count);
    this.#timer ??= setTimeout(() => this.flush(), this.periodMs).unref();
    if (count.lines < MOST_LINES) {
      count.lines += 1;
      this.write(entry);
    } else {
      count.suppressed += 1;
      count.last = entry;
    }
  }

  /** Ends the period: writes the counts of what was suppressed. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const counts = [...this.#counts];
    this.#counts.clear();
    for (const [key, { suppressed, last }] of counts)
      if (suppressed > 0) this.summarize(last, suppressed, key === OTHERS);
  }
}

const OTHERS = 'others';
