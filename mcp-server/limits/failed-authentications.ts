/**
 * Counts requests with unknown credentials by the client's network (docs/limits.md). Only such requests are refused: valid
 * credentials always pass, since others may share the address.
 */
import { createHash, randomBytes } from 'node:crypto';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { networkOf } from '../../platform/http/client-address.js';
import { sparingly, type Logger } from '../../platform/observe/log.js';
import { RateLimited, consume, RATE_WINDOW_SECONDS, secondsUntil } from './rates.js';

/** Requests per network and window that still hear that their credential is unknown. */
export const MAX_FAILURES = 60;
/** All networks share this many counts, which bounds the memory in a flood. */
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

  /** @returns the refusal beyond the limit */
  async count(address: string): Promise<RateLimited | undefined> {
    const { state, isOver } = await consume(this.#limiter, this.#bucketOf(address));
    if (!isOver) return undefined;
    this.#report(address);
    return new RateLimited(
      `expected at most ${MAX_FAILURES} requests with unknown credentials from an address in ${RATE_WINDOW_SECONDS} s; got more`,
      secondsUntil(state),
    );
  }

  /** Whether the address's next unknown credential is beyond the limit. */
  async isSuspect(address: string): Promise<boolean> {
    const state = await this.#limiter.get(this.#bucketOf(address));
    return state !== null && state.remainingPoints === 0;
  }

  #bucketOf(address: string): number {
    const hash = createHash('sha256').update(this.#seed).update(networkOf(address)).digest();
    return hash.readUInt32BE() % COUNTS;
  }
}
