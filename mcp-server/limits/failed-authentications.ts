/**
 * Requests with unknown credentials, counted by the network of the client (docs/limits.md). The count refuses such requests only: a
 * valid credential passes whatever else comes from its address, since others may share the address.
 */
import { createHash, randomBytes } from 'node:crypto';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { networkOf } from '../../platform/http/client-address.js';
import { sparingly, type Logger } from '../../platform/log.js';
import { RateLimited } from './rate-limited.js';
import { consume, RATE_WINDOW_SECONDS, secondsUntil } from './rates.js';

/** Requests of a network in a window that still get the answer that their credential is unknown. */
export const MAX_FAILURES = 60;
/** Networks share this many counts, so a flood from everywhere takes no more memory. */
const COUNTS = 2 ** 14;

export class FailedAuthentications {
  readonly #limiter = new RateLimiterMemory({ points: MAX_FAILURES, duration: RATE_WINDOW_SECONDS });
  /** Hides which networks share a count. */
  readonly #seed = randomBytes(16);
  readonly #report: (address: string) => void;

  constructor(logger: Logger) {
    this.#report = sparingly((address) =>
      logger.warn({ address }, 'many unknown credentials come from an address; they are answered 429'),
    );
  }

  /** Counts a request with an unknown credential. @returns the refusal beyond the limit */
  async count(address: string): Promise<RateLimited | undefined> {
    const { state, isOver } = await consume(this.#limiter, this.#bucketOf(address));
    if (!isOver) return undefined;
    this.#report(address);
    return new RateLimited(
      `expected at most ${MAX_FAILURES} requests with unknown credentials from an address in ${RATE_WINDOW_SECONDS} s; got more`,
      secondsUntil(state),
    );
  }

  /** Whether the next unknown credential from an address is beyond the limit. */
  async isSuspect(address: string): Promise<boolean> {
    const state = await this.#limiter.get(this.#bucketOf(address));
    return state !== null && state.remainingPoints === 0;
  }

  #bucketOf(address: string): number {
    const hash = createHash('sha256').update(this.#seed).update(networkOf(address)).digest();
    return hash.readUInt32BE() % COUNTS;
  }
}
