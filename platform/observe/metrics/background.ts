/** A cached value that is slow to read. Asking starts a read in the background, so a scrape never waits. */

/** Reads have failed for this long: leave the value out. */
const STALE_MS = 300_000;

/** Time between two reads until one succeeds. */
const RETRY_MS = 5_000;

export class Background<T> {
  #value: { value: T; atMs: number } | undefined;
  #startedMs = -Infinity;
  #isReading = false;

  /** @param intervalMs least time between two reads @param read after a failure, the previous value stays for five minutes */
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
