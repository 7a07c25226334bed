/**
 * News of the operations that a session has started, on whatever stream it listens. Those that this process started are
 * followed at once; those of other processes are found in Temporal's lists.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Engine, WatchedRecord } from '../../engine/index.js';
import { isTerminal } from '../../operations/record.js';
import type { Logger } from '../../platform/log.js';
import { forEachChange } from './for-each-change.js';

/** Lists are rate-limited: each listener's is read at most this often, and one after the other, in milliseconds. */
const LIST_INTERVAL_MS = 3_000;
const LIST_PAUSE_MS = 500;
/** Most operations that one listener is told of at a time. */
const MAX_FOLLOWED = 100;

/** Tells a listener of one operation. */
export interface Follower {
  /** @returns has it ended, as far as this listener has to know? */
  notify(record: WatchedRecord): Promise<boolean>;
  /** It is followed no more. */
  close?(): void;
}

export interface Listener {
  principal: string;
  /** What the operations are listed under. */
  session: string;
  /** Makes what tells of one operation. */
  createFollower: () => Follower;
  /** Fires when it listens no more. */
  signal: AbortSignal;
  /** From when on ends are news. Default: now. */
  since?: Date;
}

interface ActiveListener extends Listener {
  since: Date;
  /** Operations that it was told of. */
  tokens: Set<string>;
  /** How many of them it still is. */
  followedCount: number;
}

/** The sessions that listen to this process. */
export class SessionNotifier {
  readonly #listeners = new Map<string, ActiveListener>();
  #isListing = false;

  constructor(
    private readonly engine: Engine,
    private readonly logger: Logger,
  ) {}

  /** Tells a listener of its session's operations until its signal fires; the latest of a session is the one that is told. */
  listen(listener: Listener): void {
    const active = { since: new Date(), ...listener, tokens: new Set<string>(), followedCount: 0 };
    this.#listeners.set(listener.session, active);
    listener.signal.addEventListener('abort', () => {
      if (this.#listeners.get(listener.session) === active) this.#listeners.delete(listener.session);
    });
    void this.#findStarted();
  }

  /** Does a session listen to this process? */
  isListening(session: string): boolean {
    return this.#listeners.has(session);
  }

  /** An operation was started here. */
  onStarted(session: string | undefined, token: string): void {
    const listener = session === undefined ? undefined : this.#listeners.get(session);
    if (listener) void this.#follow(listener, token);
  }

  /** Looks for operations that other processes have started, as long as anybody listens. */
  async #findStarted(): Promise<void> {
    if (this.#isListing) return;
    this.#isListing = true;
    try {
      while (this.#listeners.size > 0) {
        for (const listener of [...this.#listeners.values()]) {
          if (listener.signal.aborted) continue;
          await this.#list(listener);
          await delay(Math.max(LIST_PAUSE_MS, LIST_INTERVAL_MS / this.#listeners.size), undefined, {
            ref: false,
          });
        }
      }
    } finally {
      this.#isListing = false;
    }
  }

  async #list(listener: ActiveListener): Promise<void> {
    try {
      const { operations } = await this.engine.list(listener.principal, {
        session: listener.session,
        limit: MAX_FOLLOWED,
      });
      for (const { token, status, closedAt } of operations) {
        const isRelevant =
          !isTerminal(status) || (closedAt !== undefined && new Date(closedAt) > listener.since);
        if (isRelevant) void this.#follow(listener, token);
      }
    } catch (error) {
      this.logger.debug({ reason: (error as Error).message }, "a session's operations could not be listed");
    }
  }

  /** Tells of each change until the operation has ended. Each is followed once. */
  async #follow(listener: ActiveListener, token: string): Promise<void> {
    if (listener.tokens.has(token) || listener.followedCount >= MAX_FOLLOWED) return;
    listener.tokens.add(token);
    listener.followedCount += 1;
    const { principal, signal } = listener;
    const follower = listener.createFollower();
    try {
      const records = this.engine.watch(principal, token, { signal, progress: true });
      await forEachChange(records, (record) => follower.notify(record));
    } catch (error) {
      this.logger.error({ err: error }, 'following an operation failed');
    } finally {
      follower.close?.();
      listener.followedCount -= 1;
    }
  }
}
