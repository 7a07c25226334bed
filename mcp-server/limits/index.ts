/** Limits on callers' use of this process, in every protocol (docs/limits.md). */
import type { HttpBindings } from '@hono/node-server';
import type { Context, MiddlewareHandler } from 'hono';
import { LRUCache } from 'lru-cache';
import { countOpenOperations } from '../../engine/list/current-runs.js';
import type { Engine } from '../../engine/index.js';
import type { Settings } from '../../platform/settings/index.js';
import type { Logger } from '../../platform/observe/log.js';
import { callerOf } from '../auth/middleware.js';
import { FailedAuthentications } from './failed-authentications.js';
import { OpenRequests } from './open-requests.js';
import { RateLimited, Rates, type RateName } from './rates.js';

export { RateLimited } from './rates.js';

export interface StartLimits {
  /** @returns takes the admission back, if nothing was started @throws RateLimited */
  admit(principal: string): Promise<() => void>;
}

export class Limits {
  readonly rates: Rates;
  readonly openRequests: OpenRequests;
  readonly failedAuthentications: FailedAuthentications;
  /** For starts whose requests already counted as kickoffs. */
  readonly counted: StartLimits;
  /** For all other starts. */
  readonly starts: StartLimits;

  constructor(settings: Settings, { temporal }: Pick<Engine, 'temporal'>, logger: Logger) {
    this.rates = new Rates(settings);
    this.openRequests = new OpenRequests(settings);
    this.failedAuthentications = new FailedAuthentications(logger);
    const { maxOpenOperations } = settings;
    this.counted =
      maxOpenOperations === undefined
        ? { admit: () => Promise.resolve(() => undefined) }
        : new OpenOperations(
            maxOpenOperations,
            (principal) => countOpenOperations(temporal, principal),
            (reason) => logger.warn({ reason }, UNCOUNTED),
          );
    this.starts = {
      admit: async (principal) => {
        await this.rates.count('kickoff', principal);
        return this.counted.admit(principal);
      },
    };
  }
}

const UNCOUNTED = 'open operations cannot be counted, so a start was admitted without a count';
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

/**
 * Limits a principal's open operations: a visibility count at most {@link FRESH_MS} old, plus this process's starts since. Starts
 * and ends at other servers show up in the next count.
 */
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

/**
 * Middleware that counts an authenticated caller's request as open until its response was sent or its connection closed.
 *
 * @param rate another rate that counts the request
 */
export function limited(
  { openRequests, rates }: Limits,
  refuse: (c: Context, error: RateLimited) => Response | Promise<Response>,
  rate?: RateName,
): MiddlewareHandler {
  return async (c, next) => {
    const { principal } = callerOf(c);
    let close: () => void;
    try {
      if (rate) await rates.count(rate, principal);
      close = openRequests.open(principal);
    } catch (error) {
      if (error instanceof RateLimited) return refuse(c, error);
      throw error;
    }
    const { outgoing } = c.env as HttpBindings;
    outgoing.once('close', close);
    if (outgoing.destroyed) close();
    return next();
  };
}
