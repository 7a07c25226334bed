/** Limits open requests, including waits and streams: per principal, and in total. */
import type { Settings } from '../../platform/settings/index.js';
import { RateLimited } from './rates.js';

/** Counts open things by key. A key is stored only while its count isn't 0. */
export class OpenCounts {
  readonly #counts = new Map<string, number>();

  get(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  add(key: string): void {
    this.#counts.set(key, this.get(key) + 1);
  }

  remove(key: string): void {
    const left = this.get(key) - 1;
    if (left > 0) this.#counts.set(key, left);
    else this.#counts.delete(key);
  }
}

/** Suggested delay before a retry, in seconds. A guess: waits end when they end. */
const RETRY_AFTER_SECONDS = 5;
const MOST_REQUESTS = 20_000;

export class OpenRequests {
  readonly #own = new OpenCounts();
  #all = 0;

  /** @param most maximum for all callers together. Default: 20,000 */
  constructor(
    private readonly settings: Pick<Settings, 'maxOpenRequests'>,
    private readonly most = MOST_REQUESTS,
  ) {}

  /**
   * Counts a request as open.
   *
   * @returns ends it
   * @throws RateLimited
   */
  open(principal: string): () => void {
    const { maxOpenRequests } = this.settings;
    if (this.#own.get(principal) >= maxOpenRequests) throw refusal(maxOpenRequests, 'for each caller');
    if (this.#all >= this.most) throw refusal(this.most, 'of all callers');
    this.#own.add(principal);
    this.#all += 1;
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#all -= 1;
      this.#own.remove(principal);
    };
  }
}

function refusal(limit: number, whose: string): RateLimited {
  return new RateLimited(
    `expected at most ${limit} open requests, waits and streams ${whose}; got one more`,
    RETRY_AFTER_SECONDS,
  );
}
