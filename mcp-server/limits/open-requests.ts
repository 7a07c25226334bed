/** Requests that are open at a time, among them waits and streams: per principal, and of all callers together. */
import type { LimitSettings } from '../../platform/limit-settings.js';
import { RateLimited } from './rate-limited.js';

/** When a refused request may succeed, in seconds: a guess, since waits end when they end. */
const RETRY_AFTER_SECONDS = 5;

export class OpenRequests {
  readonly #own = new Map<string, number>();
  #all = 0;

  constructor(private readonly settings: Pick<LimitSettings, 'maxOpenRequests' | 'serverMaxOpenRequests'>) {}

  /**
   * Counts a request as open.
   *
   * @returns ends it
   * @throws RateLimited
   */
  open(principal: string): () => void {
    const { maxOpenRequests, serverMaxOpenRequests } = this.settings;
    const own = this.#own.get(principal) ?? 0;
    if (own >= maxOpenRequests) throw refusal(maxOpenRequests, 'for each caller');
    if (this.#all >= serverMaxOpenRequests) throw refusal(serverMaxOpenRequests, 'of all callers');
    this.#own.set(principal, own + 1);
    this.#all += 1;
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#all -= 1;
      const left = this.#own.get(principal)! - 1;
      if (left === 0) this.#own.delete(principal);
      else this.#own.set(principal, left);
    };
  }
}

function refusal(limit: number, whose: string): RateLimited {
  return new RateLimited(
    `expected at most ${limit} open requests, waits and streams ${whose}; got one more`,
    RETRY_AFTER_SECONDS,
  );
}
