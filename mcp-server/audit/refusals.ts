/** Limits audit lines about refusals: a thousand refusals a second become a few lines with a count. */

/** Refusals per caller and period that get a line of their own. */
const MOST_LINES = 5;
/** Callers that are counted separately in a period. All others count as one. */
const MOST_CALLERS = 50;

interface Count<Entry> {
  lines: number;
  suppressed: number;
  last: Entry;
}

export class Refusals<Entry> {
  readonly #counts = new Map<string, Count<Entry>>();
  #timer: NodeJS.Timeout | undefined;

  /** @param summarize gets the last suppressed refusal, the number of suppressed ones, and whether they are several callers' */
  constructor(
    private readonly periodMs: number,
    private readonly write: (entry: Entry) => void,
    private readonly summarize: (last: Entry, suppressed: number, isOfSeveral: boolean) => void,
  ) {}

  /** @param caller the principal, or whatever else distinguishes callers */
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

  /** Ends the period, and writes the counts of suppressed refusals. */
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
