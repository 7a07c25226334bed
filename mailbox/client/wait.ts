/**
 * Waiting for a message. A wait long-polls the inbox's history and reads its memo after each change. It writes nothing and needs no
 * worker until there is a message to take. You can end it at any time and repeat it on another process: a taken message that wasn't
 * acknowledged is delivered again.
 */
import PQueue from 'p-queue';
import { isKind } from '../../operations/errors.js';
import { LEASE_SECONDS } from '../limits.js';
import type { ReceiveOptions, ReceiveResult } from '../types.js';
import { releaseUpdate, takeUpdate, type HeldMessage, type ReleaseRequest } from '../wire.js';
import { withJitter } from '../../platform/jitter.js';
import { withTimeout } from '../../platform/with-timeout.js';
import type { Watches } from '../../engine/watch/index.js';
import { readMessage } from './contents.js';
import { agentNotFound } from './errors.js';
import { Offers } from './offers.js';
import { Presence, type AgentSession, type OpenWait, type PresenceOptions } from './presence.js';
import { RefusedError } from './workflows.js';

const RETRY_MS = 1_000;
/** Longest pause between two reads of the inbox, in milliseconds. Changes end it. */
const LONGEST_PAUSE_MS = 3600_000;
/**
 * How long an ending wait stays open while a message is being taken, in milliseconds. Otherwise the agent's next wait could take it
 * before its release, which would count as a failed delivery of a message that the agent never saw.
 */
const TAKING_MS = 1_000;
/** Shortest pause before a wait asks again for a message that another wait has, in milliseconds. */
const SHORTEST_HELD_MS = 100;

export class Waits {
  readonly presence: Presence;
  readonly offers: Offers;
  readonly #sessions = new Map<string, SessionWaits>();

  constructor(
    readonly watches: Watches,
    presence: PresenceOptions,
  ) {
    this.offers = new Offers(watches);
    this.presence = new Presence(presence);
  }

  /** @throws LonghaulError `not_found` if the inbox doesn't know the session */
  async receive(session: AgentSession, options: ReceiveOptions): Promise<ReceiveResult> {
    const { signal } = options;
    const wait = new Wait(this, session, options, this.#waitsOf(session));
    const abort = () => wait.endSoon({ kind: 'aborted' });
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    try {
      return await wait.ended;
    } finally {
      signal.removeEventListener('abort', abort);
      wait.close();
    }
  }

  /** Requeues a message that didn't reach its agent. No-op if its state has changed since. */
  async release(
    session: AgentSession,
    { messageId, delivery }: { messageId: string; delivery: number },
  ): Promise<void> {
    const { workflows, name, epoch } = session;
    const request: ReleaseRequest = { epoch, id: messageId, delivery };
    try {
      // The agent's next wait begins after the release, or the message would count as delivered twice.
      await this.#waitsOf(session).run(() => workflows.inbox(name).update(releaseUpdate, request));
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
    }
  }

  #waitsOf({ key }: AgentSession): SessionWaits {
    let waits = this.#sessions.get(key);
    if (!waits) this.#sessions.set(key, (waits = new SessionWaits(() => this.#sessions.delete(key))));
    return waits;
  }
}

/** One session's open waits here. A delivery goes to one of them, and only a later wait can get the message again. */
class SessionWaits {
  readonly #open = new Set<Wait>();
  /** Takes and releases. */
  readonly #queue = new PQueue({ concurrency: 1 });

  /** @param onUnused called when no wait is open and nothing is being taken or released */
  constructor(private readonly onUnused: () => void) {
    this.#queue.on('idle', () => this.#checkUse());
  }

  add(wait: Wait): void {
    this.#open.add(wait);
  }

  remove(wait: Wait): void {
    this.#open.delete(wait);
    this.#checkUse();
  }

  /** Whether a message is being taken or released. */
  get isBusy(): boolean {
    return this.#queue.size + this.#queue.pending > 0;
  }

  whenIdle(): Promise<void> {
    return this.#queue.onIdle();
  }

  /** Takes or releases a message, in turn. */
  run<T>(work: () => Promise<T>): Promise<T> {
    return this.#queue.add(work);
  }

  /** @param number of the delivery, counted by the inbox */
  delivered(number: number, to: Wait): void {
    for (const wait of this.#open) if (wait !== to) wait.onDelivered(number);
  }

  #checkUse(): void {
    if (this.#open.size === 0 && !this.isBusy) this.onUnused();
  }
}

class Wait {
  readonly ended: Promise<ReceiveResult>;
  #resolve!: (result: ReceiveResult) => void;
  #reject!: (error: unknown) => void;
  readonly #over = new AbortController();
  readonly #presence: OpenWait;
  #leaveOffers: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Time until the next read without a change, in milliseconds. */
  #pauseMs = LONGEST_PAUSE_MS;
  /** Resolves once the message under way was taken, or not. */
  #taking: Promise<unknown> | undefined;
  #ack: string | undefined;
  /** The inbox's deliveries when the wait began: a message delivered since belongs to another wait. */
  #after: number | undefined;
  readonly #startedAtMs = performance.now();

  constructor(
    private readonly parent: Waits,
    private readonly session: AgentSession,
    private readonly options: ReceiveOptions,
    private readonly waits: SessionWaits,
  ) {
    this.#ack = options.ack;
    this.#presence = parent.presence.open(session);
    this.ended = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    waits.add(this);
    void this.#run();
  }

  /** Another wait of the session received a message. */
  onDelivered(number: number): void {
    this.#after = Math.min(this.#after ?? Infinity, number - 1);
  }

  /** Ends at once, or with the message being taken. */
  endSoon(result: ReceiveResult): void {
    if (!this.#taking) this.#end(result);
    else void withTimeout(this.#taking, TAKING_MS).then(() => this.#end(result));
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#leaveOffers?.();
    this.#presence.close();
    this.waits.remove(this);
  }

  get #isEnded(): boolean {
    return this.#over.signal.aborted;
  }

  /** @returns false if the wait had already ended */
  #end(result: ReceiveResult): boolean {
    if (this.#isEnded) return false;
    this.#over.abort();
    this.#resolve(result);
    return true;
  }

  async #run(): Promise<void> {
    const { workflows, name } = this.session;
    const changes = this.parent.watches.changes(workflows.inbox(name).id, {
      signal: this.#over.signal,
      pauseMs: () => this.#pauseMs,
    });
    try {
      for await (const _change of changes) await this.#read();
    } catch (error) {
      this.#over.abort();
      this.#reject(error);
    }
  }

  async #read(): Promise<void> {
    this.#pauseMs = LONGEST_PAUSE_MS;
    try {
      await this.#readOnce();
    } catch (error) {
      if (!isKind(error, 'unavailable')) throw error;
      this.#startTimer(0);
      this.#pauseMs = withJitter(RETRY_MS);
    }
  }

  async #readOnce(): Promise<void> {
    const { workflows, name, epoch } = this.session;
    const memo = await workflows.inbox(name).describe();
    if (!memo || memo.epoch < epoch) throw agentNotFound();
    if (memo.epoch > epoch) this.#end({ kind: 'gone' });
    else if (memo.isBye) this.#end({ kind: 'bye' });
    if (this.#isEnded) return;
    this.#presence.onMemo(memo);
    this.#after ??= memo.deliveries ?? 0;
    const quietMs = Math.max(0, workflows.temporal.time.nowMs - memo.activeAt);
    const hasMessages = memo.queued > 0;
    if (hasMessages && this.waits.isBusy) {
      this.#startTimer(quietMs, TAKING_MS);
      await Promise.race([this.waits.whenIdle(), this.ended]);
      this.#pauseMs = 0;
      return;
    }
    const isHeld = hasMessages && (await this.#take());
    if (this.#isEnded) return;
    this.#startTimer(quietMs);
    this.#ack = undefined;
    if (!isHeld && memo.registration)
      this.#leaveOffers ??= this.parent.offers.join(workflows, memo.registration);
  }

  /** Takes the next message, if there is one for this wait. @returns whether another wait has it */
  async #take(): Promise<boolean> {
    const taking = this.waits.run(() => this.#takeNow());
    this.#taking = taking.catch(() => undefined);
    try {
      await taking;
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      if (error.why === 'gone' || error.why === 'bye') this.#end({ kind: error.why });
      if (error.why !== 'held') return false;
      const { leaseMs } = error.detail as HeldMessage;
      this.#pauseMs = Math.max(leaseMs, SHORTEST_HELD_MS);
      return true;
    } finally {
      this.#taking = undefined;
    }
    return false;
  }

  async #takeNow(): Promise<void> {
    const { workflows, name, epoch } = this.session;
    const leaseMs = (this.options.leaseSeconds ?? LEASE_SECONDS) * 1000;
    const request = { epoch, leaseMs, after: this.#after!, ack: this.#ack };
    const taken = await workflows.inbox(name).update(takeUpdate, request);
    this.#ack = undefined;
    if (!taken.message) return;
    this.waits.delivered(taken.number!, this);
    const { previous } = taken;
    const message = await readMessage(workflows.temporal.storage, taken.message);
    if (!this.#end({ kind: 'message', message, ...(previous ? { previous } : {}) }))
      void this.parent.release(this.session, message).catch(() => undefined);
  }

  /** @param quietMs time since the inbox's last message */
  #startTimer(quietMs: number, leastMs = 0): void {
    if (this.#timer || this.#isEnded) return;
    const { timeoutMs } = this.options;
    const waitMs = typeof timeoutMs === 'function' ? timeoutMs(quietMs) : timeoutMs;
    // The first read may have been delayed.
    const leftMs = Math.max(leastMs, waitMs - (performance.now() - this.#startedAtMs));
    this.#timer = setTimeout(() => this.endSoon({ kind: 'idle' }), leftMs);
  }
}
