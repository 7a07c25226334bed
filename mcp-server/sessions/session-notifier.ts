/**
 * Notifies a session's stream about its operations. This process follows its own operations at once, and finds other processes'
 * operations in Temporal's visibility, with one query for all sessions.
 */
import { setTimeout as delay } from 'node:timers/promises';
import PQueue from 'p-queue';
import { ProtocolError } from '@modelcontextprotocol/server';
import type { Engine, SessionPeriod, WatchedRecord } from '../../engine/index.js';
import type { Guard } from '../guard.js';
import { withJitter } from '../../platform/jitter.js';
import type { Logger } from '../../platform/observe/log.js';
import { LonghaulError } from '../../operations/errors.js';
import type { OperationRecord } from '../../operations/record.js';

/** Interval between two looks for operations, and the longest one while looks fail, in milliseconds. */
const LOOK_INTERVAL_MS = 3_000;
const LONGEST_INTERVAL_MS = 60_000;
/** Time before the first look for a new listener, in milliseconds: listeners that arrive together share a look. */
const TICK_MS = 500;
/** How long after its start an operation may be missing from lists, in milliseconds. */
const LAG_MS = 120_000;
const MAX_FOLLOWED = 100;

export interface Follower {
  /** @returns whether the listener needs no further notification */
  notify(record: WatchedRecord): Promise<boolean>;
  /** Called when the operation is no longer followed. */
  close?(): void;
}

export interface Notification {
  jsonrpc: '2.0';
  method: string;
  params: Record<string, unknown>;
}

/** How a protocol's follower reaches its client. */
export type Send = (notification: Notification) => Promise<void>;

export interface Listener {
  engine: Guard;
  /** Session that lists the operations. */
  session: string;
  createFollower: () => Follower;
  /** Creates the object that shows an operation's questions. Missing for a client without elicitation. */
  createQuestions?: (() => { show(record: OperationRecord): Promise<void>; close(): void }) | undefined;
  signal: AbortSignal;
  /** Ignores operations that ended before this time. Default: now. */
  since?: Date;
}

interface ActiveListener extends Listener {
  since: Date;
  tokens: Set<string>;
  /** Follows operations. Those beyond {@link MAX_FOLLOWED} wait. */
  queue: PQueue;
  /** Time before its latest successful look. */
  lookedAt?: Date;
}

export class SessionNotifier {
  readonly #listeners = new Map<string, ActiveListener>();
  #isLooking = false;

  constructor(
    private readonly engine: Engine,
    private readonly logger: Logger,
  ) {}

  /** Notifies a listener until its signal fires. Only a session's latest listener is notified. */
  listen(listener: Listener): void {
    const active: ActiveListener = {
      ...listener,
      since: listener.since ?? new Date(this.engine.temporal.time.nowMs),
      tokens: new Set(),
      queue: new PQueue({ concurrency: MAX_FOLLOWED }),
    };
    this.#listeners.set(listener.session, active);
    listener.signal.addEventListener('abort', () => {
      active.queue.clear();
      if (this.#listeners.get(listener.session) === active) this.#listeners.delete(listener.session);
    });
    void this.#findStarted();
  }

  isListening(session: string): boolean {
    return this.#listeners.has(session);
  }

  /** Called when this process has started an operation. */
  onStarted(session: string | undefined, token: string): void {
    const listener = session === undefined ? undefined : this.#listeners.get(session);
    if (listener) this.#followOnce(listener, token);
  }

  /** Finds operations of other processes, while there are listeners. */
  async #findStarted(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    let intervalMs = LOOK_INTERVAL_MS;
    let dueAtMs = 0;
    try {
      for (; this.#listeners.size > 0; await delay(TICK_MS, undefined, { ref: false })) {
        const isDue = performance.now() >= dueAtMs;
        const isFailing = intervalMs > LOOK_INTERVAL_MS;
        const listeners = [...this.#listeners.values()].filter(
          ({ lookedAt }) => isDue || (lookedAt === undefined && !isFailing),
        );
        if (listeners.length === 0) continue;
        const isSuccess = await this.#look(listeners);
        if (isSuccess && !isDue) continue;
        intervalMs = isSuccess ? LOOK_INTERVAL_MS : Math.min(LONGEST_INTERVAL_MS, intervalMs * 2);
        dueAtMs = performance.now() + (isSuccess ? intervalMs : withJitter(intervalMs));
      }
    } finally {
      this.#isLooking = false;
    }
  }

  /** Looks for these listeners' operations. @returns whether that succeeded */
  async #look(listeners: ActiveListener[]): Promise<boolean> {
    const [known, unknown] = [true, false].map((isKnown) =>
      listeners.filter(({ lookedAt }) => (lookedAt !== undefined) === isKnown),
    ) as [ActiveListener[], ActiveListener[]];
    try {
      const earliest = (times: Date[]) => new Date(Math.min(...times.map(Number)));
      // Lists lag.
      const before = (time: Date) => new Date(Number(time) - LAG_MS);
      if (unknown.length > 0)
        await this.#followFound(unknown, { closedAfter: earliest(unknown.map(({ since }) => since)) });
      if (known.length > 0)
        await this.#followFound(known, {
          startedAfter: before(earliest(known.map(({ lookedAt }) => lookedAt!))),
        });
      return true;
    } catch (error) {
      this.logger.debug({ reason: (error as Error).message }, "sessions' operations could not be listed");
      return false;
    }
  }

  async #followFound(listeners: ActiveListener[], period: SessionPeriod): Promise<void> {
    const lookedAt = new Date(await this.engine.temporal.nowMs());
    const bySession = new Map(listeners.map((listener) => [listener.session, listener]));
    const scopes = listeners.map(({ session, engine: { principal } }) => ({ session, principal }));
    for (const { session, token, closedAt } of await this.engine.sessionOperations(scopes, period)) {
      const listener = bySession.get(session)!;
      const isRelevant = closedAt === undefined || closedAt > listener.since;
      if (isRelevant && !listener.signal.aborted) this.#followOnce(listener, token);
    }
    for (const listener of listeners) listener.lookedAt = lookedAt;
  }

  #followOnce(listener: ActiveListener, token: string): void {
    if (listener.tokens.has(token)) return;
    listener.tokens.add(token);
    void listener.queue.add(() => this.#follow(listener, token));
  }

  /** Notifies the listener of each change until the operation ends. */
  async #follow(listener: ActiveListener, token: string): Promise<void> {
    const { engine, signal } = listener;
    const follower = listener.createFollower();
    const questions = listener.createQuestions?.();
    try {
      const records = engine.watch(token, { signal, progress: true });
      await forEachChange(records, async (record) => {
        const isOver = await follower.notify(record);
        if (!isOver && record.cancelRequestedAt === undefined) await questions?.show(record);
        return isOver;
      });
    } catch (error) {
      this.logger.error({ err: error }, 'following an operation failed');
    } finally {
      follower.close?.();
      questions?.close();
    }
  }
}

/**
 * Calls `notify` with each item until it returns true. Ends without an error if the operation is purged meanwhile or can no longer
 * be rendered. Other errors pass through.
 */
export async function forEachChange<T>(
  items: AsyncIterable<T>,
  notify: (item: T) => Promise<boolean | void>,
): Promise<void> {
  try {
    for await (const item of items) if (await notify(item)) return;
  } catch (error) {
    if (!(error instanceof LonghaulError || error instanceof ProtocolError)) throw error;
  }
}
