/**
 * Operations that a principal may have open at a time: a count of Temporal's visibility, at most {@link FRESH_MS} old, and the
 * starts of this process since. Other servers' starts and ends count from the next count on.
 */
import { LRUCache } from 'lru-cache';
import { RateLimited } from './rate-limited.js';

/** How long a count is used, in milliseconds. */
const FRESH_MS = 3_000;
/** Age below which a count is good enough for a refusal, in milliseconds: operations may have ended since. */
const REFUSAL_FRESH_MS = 1_000;
/** When a refused start may succeed, in seconds. */
const RETRY_AFTER_SECONDS = 10;
/** Principals whose counts are kept. */
const MAX_KNOWN = 10_000;

interface Known {
  count: number;
  /** Monotonic clock: when the count began. */
  atMs: number;
  /** Starts of this process that the count doesn't have. */
  started: number;
}

export class OpenOperations {
  readonly #known = new LRUCache<string, Known>({ max: MAX_KNOWN });
  readonly #counting = new Map<string, Promise<Known | undefined>>();

  /**
   * @param limit operations for each principal
   * @param countOpen counts a principal's; undefined where that isn't possible
   * @param onUnknown called with the reason when a start is admitted because nothing can be counted
   */
  constructor(
    private readonly limit: number,
    private readonly countOpen: (principal: string) => Promise<number | undefined>,
    private readonly onUnknown: (reason: unknown) => void,
  ) {}

  /**
   * Admits a start.
   *
   * @returns takes it back, if nothing was started
   * @throws RateLimited
   */
  async admit(principal: string): Promise<() => void> {
    let known = await this.#current(principal, FRESH_MS);
    if (known && this.#isFull(known)) known = await this.#current(principal, REFUSAL_FRESH_MS);
    if (!known) return () => undefined;
    if (this.#isFull(known))
      throw new RateLimited(
        `expected at most ${this.limit} open operations for each caller; got one more`,
        RETRY_AFTER_SECONDS,
      );
    const counted = known;
    counted.started += 1;
    return () => {
      counted.started -= 1;
    };
  }

  #isFull({ count, started }: Known): boolean {
    return count + started >= this.limit;
  }

  async #current(principal: string, freshMs: number): Promise<Known | undefined> {
    const known = this.#known.get(principal);
    if (known && performance.now() - known.atMs < freshMs) return known;
    const counting = this.#counting.get(principal) ?? this.#count(principal);
    this.#counting.set(principal, counting);
    return counting;
  }

  /** One count for all starts that need one. If it fails, the one before is used. */
  async #count(principal: string): Promise<Known | undefined> {
    const before = this.#known.get(principal);
    // Starts that are under way now may or may not be in the count: it has them from the next one on.
    const startedBefore = before?.started ?? 0;
    try {
      const atMs = performance.now();
      const count = await this.countOpen(principal);
      if (count === undefined) {
        this.onUnknown('this Temporal lacks the search attributes');
        return undefined;
      }
      const known = { count, atMs, started: (before?.started ?? 0) - startedBefore };
      this.#known.set(principal, known);
      return known;
    } catch (error) {
      this.onUnknown(error);
      return before;
    } finally {
      this.#counting.delete(principal);
    }
  }
}
