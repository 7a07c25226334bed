/**
 * A value that takes a while to read: read in the background when somebody asks, and kept. A scrape never waits for it, and nothing
 * is read while nobody scrapes.
 */

/** Age from which a value is left out, in milliseconds: reading it has failed since. */
const STALE_MS = 300_000;

/** Time between two reads while none has succeeded, in milliseconds. */
const RETRY_MS = 5_000;

export class Background<T> {
  #value: { value: T; atMs: number } | undefined;
  #startedMs = -Infinity;
  #isReading = false;

  /**
   * @param intervalMs least time between two reads, in milliseconds, or a function of the value that gives it
   * @param read gives the value; after a failure the previous one stays for five minutes
   */
  constructor(
    private readonly intervalMs: number | ((value: T) => number),
    private readonly read: () => Promise<T>,
  ) {}

  /** Starts a read, unless one runs or the value is fresh. */
  refresh(): void {
    if (this.#isReading || performance.now() - this.#startedMs < this.#waitMs) return;
    this.#isReading = true;
    this.#startedMs = performance.now();
    this.read()
      .then(
        (value) => (this.#value = { value, atMs: performance.now() }),
        // The value ages.
        () => undefined,
      )
      .finally(() => (this.#isReading = false));
  }

  /** The latest value; undefined without one. */
  get value(): T | undefined {
    if (!this.#value) return undefined;
    const limitMs = Math.max(STALE_MS, 2 * this.#waitMs);
    return performance.now() - this.#value.atMs < limitMs ? this.#value.value : undefined;
  }

  /** Readings of the latest value; empty without one. */
  map<Reading>(readings: (value: T) => Reading[]): Reading[] {
    const { value } = this;
    return value === undefined ? [] : readings(value);
  }

  get #waitMs(): number {
    if (typeof this.intervalMs === 'number') return this.intervalMs;
    return this.#value ? this.intervalMs(this.#value.value) : RETRY_MS;
  }
}
