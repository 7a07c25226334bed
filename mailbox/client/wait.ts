/**
 * Waiting for a message. A wait long-polls the inbox's history and reads its memo after each change. It writes nothing and needs no
 * worker until there is a message to take. You can end it at any time and repeat it on another process: a taken message that wasn't
 * acknowledged is delivered again.
 */
import { isKind } from '../../operations/errors.js';
import { LEASE_SECONDS } from '../limits.js';
import type { InboxMemo } from '../state.js';
import type { DeliveredMessage, ReceiveOptions, ReceiveResult } from '../types.js';
import {
  releaseUpdate,
  takeUpdate,
  type HeldMessage,
  type ReleaseRequest,
  type TakeRequest,
  type TakeResult,
} from '../wire.js';
import { withJitter } from '../../platform/jitter.js';
import type { Storage } from '../../platform/storage/index.js';
import type { Watches } from '../../engine/watch/index.js';
import { readMessage } from './contents.js';
import { Offers } from './offers.js';
import { Presence, type AgentSession, type PresenceOptions } from './presence.js';
import { agentNotFound } from './errors.js';
import { SessionWaits } from './session-waits.js';
import { RefusedError, type MailboxWorkflows } from './workflows.js';

const RETRY_MS = 1_000;
/** Maximum delay of a timer, in milliseconds: 24 days. */
const LONGEST_MS = 2 ** 31 - 1;
/**
 * How long an ending wait stays open while a message is being taken, in milliseconds. Otherwise the agent's next wait could take it
 * before its release, which would count as a failed delivery of a message that the agent never saw.
 */
const TAKING_MS = 1_000;
/** Shortest pause before a wait asks again for a message that another wait has, in milliseconds. */
const SHORTEST_HELD_MS = 100;

export class Waits {
  readonly #offers: Offers;
  readonly presence: Presence;
  readonly #sessions = new Map<string, SessionWaits>();

  constructor(
    private readonly workflows: MailboxWorkflows,
    private readonly watches: Watches,
    private readonly storage: Storage,
    presence: PresenceOptions,
  ) {
    this.#offers = new Offers(workflows, watches);
    this.presence = new Presence(workflows, presence);
  }

  /** @throws LonghaulError `not_found` if the inbox doesn't know the session */
  async receive(session: AgentSession, options: ReceiveOptions): Promise<ReceiveResult> {
    const { signal } = options;
    const { onMemo, close } = this.presence.open(session);
    if (signal.aborted) {
      close();
      return { kind: 'aborted' };
    }
    const waits = this.#waitsOf(session);
    const wait = new Wait(session, options, {
      workflows: this.workflows,
      storage: this.storage,
      waits,
      release: (message) => this.release(session, message),
    });
    const release = [
      close,
      () => waits.remove(wait),
      this.watches.follow(this.workflows.inboxOf(session.principal, session.name), wait.wake),
      () => wait.stopTimer(),
    ];
    const abort = () => wait.endSoon({ kind: 'aborted' });
    signal.addEventListener('abort', abort, { once: true });
    wait.onMemo = (memo) => {
      const { registration } = memo;
      onMemo(memo);
      wait.onMemo = onMemo;
      if (registration) wait.onFree = () => release.push(this.#offers.join(session.principal, registration));
    };
    try {
      return await wait.ended;
    } finally {
      signal.removeEventListener('abort', abort);
      for (const one of release) one();
    }
  }

  /** Requeues a message that didn't reach its agent. No-op if its state has changed since. */
  async release(
    session: AgentSession,
    { messageId, delivery }: { messageId: string; delivery: number },
  ): Promise<void> {
    const { principal, name, epoch } = session;
    const request: ReleaseRequest = { epoch, id: messageId, delivery };
    // The agent's next wait begins after the release, or the message would count as delivered twice.
    const waits = this.#waitsOf(session);
    try {
      await waits.run(() => this.workflows.updateInbox(principal, name, releaseUpdate, request));
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
    }
  }

  #waitsOf({ principal, name, epoch }: AgentSession): SessionWaits {
    const key = JSON.stringify([principal, name, epoch]);
    let waits = this.#sessions.get(key);
    if (!waits) this.#sessions.set(key, (waits = new SessionWaits(() => this.#sessions.delete(key))));
    return waits;
  }
}

interface WaitContext {
  workflows: MailboxWorkflows;
  storage: Storage;
  waits: SessionWaits;
  /** Requeues a message that nobody received. */
  release: (message: DeliveredMessage) => Promise<void>;
}

/** `ended`: the wait is over. `busy`: another wait of the session is taking a message. `held`: another wait has it. */
type Attempt = 'ended' | 'busy' | 'held' | 'nothing';

class Wait {
  readonly ended: Promise<ReceiveResult>;
  onMemo: ((memo: InboxMemo) => void) | undefined;
  /** Called once, when the inbox had no message for the agent. */
  onFree: (() => void) | undefined;
  #settle!: (received: ReceiveResult) => void;
  #fail!: (error: unknown) => void;
  #isEnded = false;
  #isReading = false;
  #hasChanged = false;
  #timer: NodeJS.Timeout | undefined;
  #heldTimer: NodeJS.Timeout | undefined;
  #isTaking = false;
  /** Result of the wait if it takes nothing. */
  #ending: ReceiveResult | undefined;
  #endingTimer: NodeJS.Timeout | undefined;
  #ack: string | undefined;
  /** The inbox's deliveries when the wait began: a message delivered since belongs to another wait. */
  #after: number | undefined;
  readonly #startedAtMs = performance.now();

  constructor(
    private readonly session: AgentSession,
    private readonly options: ReceiveOptions,
    private readonly context: WaitContext,
  ) {
    this.#ack = options.ack;
    this.ended = new Promise((settle, fail) => {
      this.#settle = settle;
      this.#fail = fail;
    });
    context.waits.add(this);
    this.wake();
  }

  /** Another wait of the session received a message. */
  readonly onDelivered = (number: number): void => {
    this.#after = Math.min(this.#after ?? Infinity, number - 1);
  };

  /** Reads the inbox, which may have changed. */
  readonly wake = (): void => {
    this.#hasChanged = true;
    void this.#read();
  };

  /** @returns false if the wait had already ended */
  end(received: ReceiveResult): boolean {
    if (this.#isEnded) return false;
    this.#isEnded = true;
    this.stopTimer();
    this.#settle(received);
    return true;
  }

  /** Ends at once, or with the message being taken. */
  endSoon(received: ReceiveResult): void {
    if (this.#isEnded || this.#ending) return;
    if (!this.#isTaking) return void this.end(received);
    this.#ending = received;
    this.#endingTimer = setTimeout(() => this.end(received), TAKING_MS);
  }

  stopTimer(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#heldTimer);
    clearTimeout(this.#endingTimer);
  }

  async #read(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (this.#hasChanged && !this.#isEnded) {
        this.#hasChanged = false;
        await this.#readOnce();
      }
    } catch (error) {
      if (isKind(error, 'unavailable')) {
        this.#startTimer(0);
        setTimeout(this.wake, withJitter(RETRY_MS)).unref();
      } else {
        this.#isEnded = true;
        this.stopTimer();
        this.#fail(error);
      }
    } finally {
      this.#isReading = false;
    }
  }

  async #readOnce(): Promise<void> {
    const { principal, name, epoch } = this.session;
    const memo = await this.context.workflows.describeInbox(principal, name);
    if (!memo || memo.epoch < epoch) throw agentNotFound();
    if (memo.epoch > epoch) this.end({ kind: 'gone' });
    else if (memo.isBye) this.end({ kind: 'bye' });
    if (this.#isEnded) return;
    this.onMemo?.(memo);
    this.#after ??= memo.deliveries ?? 0;
    const attempt = memo.queued > 0 ? await this.#takeOrEnd() : 'nothing';
    if (attempt === 'ended') return;
    const quietMs = Math.max(0, this.context.workflows.temporal.time.nowMs - memo.activeAt);
    this.#startTimer(quietMs, attempt === 'busy' ? TAKING_MS : 0);
    if (attempt === 'busy') return;
    this.#ack = undefined;
    if (attempt === 'held') return;
    this.onFree?.();
    this.onFree = undefined;
  }

  async #takeOrEnd(): Promise<Attempt> {
    if (this.context.waits.isBusyFor(this)) return 'busy';
    this.#isTaking = true;
    try {
      const attempt = await this.#take();
      return this.#ending !== undefined && this.end(this.#ending) ? 'ended' : attempt;
    } catch (error) {
      if (this.#ending) this.end(this.#ending);
      throw error;
    } finally {
      this.#isTaking = false;
    }
  }

  async #take(): Promise<Attempt> {
    try {
      return await this.context.waits.run(() => this.#takeNow());
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      if (error.why === 'gone' || error.why === 'bye') {
        this.end({ kind: error.why });
        return 'ended';
      }
      if (error.why !== 'held') return 'nothing';
      this.#wakeAfter(error.detail as HeldMessage);
      return 'held';
    }
  }

  async #takeNow(): Promise<Attempt> {
    const { workflows, storage, release, waits } = this.context;
    const { principal, name, epoch } = this.session;
    const leaseMs = (this.options.leaseSeconds ?? LEASE_SECONDS) * 1000;
    const request: TakeRequest = { epoch, leaseMs, after: this.#after!, ack: this.#ack };
    const answer: TakeResult = await workflows.updateInbox(principal, name, takeUpdate, request);
    this.#ack = undefined;
    if (!answer.message) return 'nothing';
    if (answer.number !== undefined) waits.delivered(answer.number, this);
    const { previous } = answer;
    const message = await readMessage(storage, answer.message);
    if (!this.end({ kind: 'message', message, ...(previous ? { previous } : {}) }))
      void release(message).catch(() => undefined);
    return 'ended';
  }

  /** Reads again when another wait's lease on a message can end. */
  #wakeAfter({ leaseMs }: HeldMessage): void {
    clearTimeout(this.#heldTimer);
    this.#heldTimer = setTimeout(this.wake, Math.min(Math.max(leaseMs, SHORTEST_HELD_MS), LONGEST_MS));
  }

  /** @param quietMs time since the inbox's last message */
  #startTimer(quietMs: number, leastMs = 0): void {
    if (this.#timer || this.#isEnded) return;
    const { timeoutMs } = this.options;
    const waitMs = typeof timeoutMs === 'function' ? timeoutMs(quietMs) : timeoutMs;
    // The first read may have been delayed.
    const leftMs = Math.max(leastMs, waitMs - (performance.now() - this.#startedAtMs));
    this.#timer = setTimeout(() => this.endSoon({ kind: 'idle' }), Math.min(leftMs, LONGEST_MS));
  }
}
