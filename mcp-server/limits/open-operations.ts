/**
 * Limits a principal's open operations: a visibility count at most {@link FRESH_MS} old, plus this process's starts since. Starts
 * and ends at other servers show up in the next count.
 */
import { LRUCache } from 'lru-cache';
import { RateLimited } from './rates.js';

const FRESH_MS = 3_000;
/** Maximum age of a count for a refusal, in milliseconds: operations may have ended since. */
const REFUSAL_FRESH_MS = 1_000;
const RETRY_AFTER_SECONDS = 10;
const MAX_KNOWN = 10_000;

interface Known {
  count: number;
  /** When the count began, by the monotonic clock. */
  atMs: number;
  /** This process's starts that the count misses. */
  started: number;
}

export class OpenOperations {
  readonly #known = new LRUCache<string, Known>({ max: MAX_KNOWN });
  readonly #counting = new Map<string, Promise<Known | undefined>>();

  /**
   * @param limit operations for each principal
   * @param countOpen counts a principal's operations; undefined where that isn't possible
   * @param onUnknown gets the reason when a start is admitted uncounted
   */
  constructor(
    private readonly limit: number,
    private readonly countOpen: (principal: string) => Promise<number | undefined>,
    private readonly onUnknown: (reason: unknown) => void,
  ) {}

  /** @returns takes the admission back, if nothing was started @throws RateLimited */
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

  /** Starts that need a count share one. If it fails, they use the previous one. */
  async #count(principal: string): Promise<Known | undefined> {
    const before = this.#known.get(principal);
    // The count may or may not contain starts under way now. The next one does.
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
