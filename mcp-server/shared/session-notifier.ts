/**
 * Notifications about the operations of a session, on the stream on which it listens. Operations that this process started are
 * followed at once; those of other processes are found in Temporal's visibility store.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Engine, WatchedRecord } from '../../engine/index.js';
import { isTerminal } from '../../operations/record.js';
import type { Logger } from '../../platform/log.js';
import { forEachChange } from './for-each-change.js';

/** Rate limits of lists, in milliseconds: per listener, and between two listeners. */
const LIST_INTERVAL_MS = 3_000;
const LIST_PAUSE_MS = 500;
/** Maximum number of operations followed for one listener at a time. */
const MAX_FOLLOWED = 100;

/** Sends the notifications about one operation. */
export interface Follower {
  /** @returns whether the listener needs no further notification */
  notify(record: WatchedRecord): Promise<boolean>;
  /** Called when the operation is no longer followed. */
  close?(): void;
}

export interface Listener {
  principal: string;
  /** Session that the operations are listed under. */
  session: string;
  /** Creates the follower of one operation. */
  createFollower: () => Follower;
  /** Fires when the listener disconnects. */
  signal: AbortSignal;
  /** Operations that ended before this time are ignored. Default: now. */
  since?: Date;
}

interface ActiveListener extends Listener {
  since: Date;
  /** Operations that are or were followed. */
  tokens: Set<string>;
  /** Number of operations being followed. */
  followedCount: number;
}

/** Notifies the sessions that listen to this process. */
export class SessionNotifier {
  readonly #listeners = new Map<string, ActiveListener>();
  #isListing = false;

  constructor(
    private readonly engine: Engine,
    private readonly logger: Logger,
  ) {}

  /** Notifies a listener until its signal fires. Of a session's listeners, only the latest is notified. */
  listen(listener: Listener): void {
    const active = { since: new Date(), ...listener, tokens: new Set<string>(), followedCount: 0 };
    this.#listeners.set(listener.session, active);
    listener.signal.addEventListener('abort', () => {
      if (this.#listeners.get(listener.session) === active) this.#listeners.delete(listener.session);
    });
    void this.#findStarted();
  }

  /** Whether a session listens to this process. */
  isListening(session: string): boolean {
    return this.#listeners.has(session);
  }

  /** Called when this process has started an operation. */
  onStarted(session: string | undefined, token: string): void {
    const listener = session === undefined ? undefined : this.#listeners.get(session);
    if (listener) void this.#follow(listener, token);
  }

  /** Finds operations started by other processes, while there are listeners. */
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

  /** Notifies the listener of each change until the operation has ended. Each operation is followed once. */
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
