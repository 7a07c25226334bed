/**
 * Waiting for a message. A wait is a history long poll of the agent's inbox, and reads the inbox's memo after each change: it
 * writes nothing and needs no worker until there is a message to take. It may end at any time and be repeated on another
 * process: a message that was taken and not acknowledged is delivered again.
 */
import { isKind } from '../../operations/errors.js';
import { LEASE_SECONDS } from '../limits.js';
import type { InboxMemo } from '../state.js';
import type { ReceiveOptions, ReceiveResult } from '../types.js';
import {
  releaseUpdate,
  takeUpdate,
  type ReleaseRequest,
  type TakeRequest,
  type TakeResult,
} from '../wire.js';
import { withJitter } from '../../platform/jitter.js';
import type { Storage } from '../../platform/storage/index.js';
import type { Watches } from '../../engine/watch.js';
import { readMessage } from './contents.js';
import { Offers } from './offers.js';
import { Presence, type AgentSession, type PresenceOptions } from './presence.js';
import { agentNotFound } from './errors.js';
import { RefusedError, type MailboxWorkflows } from './workflows.js';

/** Pause before a retry while Temporal or every worker is unavailable, in milliseconds. */
const RETRY_MS = 1_000;
/** Maximum delay of a timer, in milliseconds: 24 days. */
const LONGEST_MS = 2 ** 31 - 1;
/**
 * A wait that ends while a message is being taken stays open for this time, in milliseconds: the agent's next wait could take the
 * message again before it is released, which would count as a failed delivery of a message that the agent has never seen.
 */
const TAKING_MS = 1_000;

export class Waits {
  readonly #offers: Offers;
  readonly presence: Presence;

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
    const wait = new Wait(this.workflows, session, options, this.storage);
    const release = [
      close,
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
}

class Wait {
  readonly ended: Promise<ReceiveResult>;
  /** Called with each memo of the inbox that is read. */
  onMemo: ((memo: InboxMemo) => void) | undefined;
  /** Called once, when the inbox turned out to have no message for the agent. */
  onFree: (() => void) | undefined;
  #settle!: (received: ReceiveResult) => void;
  #fail!: (error: unknown) => void;
  #isEnded = false;
  #isReading = false;
  #hasChanged = false;
  #timer: NodeJS.Timeout | undefined;
  #isTaking = false;
  /** Result of the wait if nothing is taken. */
  #ending: ReceiveResult | undefined;
  #endingTimer: NodeJS.Timeout | undefined;
  #ack: string | undefined;
  /** Monotonic time, in milliseconds. */
  readonly #startedAtMs = performance.now();

  constructor(
    private readonly workflows: MailboxWorkflows,
    private readonly session: AgentSession,
    private readonly options: ReceiveOptions,
    private readonly storage: Storage,
  ) {
    this.#ack = options.ack;
    this.ended = new Promise((settle, fail) => {
      this.#settle = settle;
      this.#fail = fail;
    });
    this.wake();
  }

  /** Reads the inbox, which may have changed. */
  readonly wake = (): void => {
    this.#hasChanged = true;
    void this.#read();
  };

  /** @returns false if the wait had ended already */
  end(received: ReceiveResult): boolean {
    if (this.#isEnded) return false;
    this.#isEnded = true;
    this.stopTimer();
    this.#settle(received);
    return true;
  }

  /** Ends at once, or with what is being taken. */
  endSoon(received: ReceiveResult): void {
    if (this.#isEnded || this.#ending) return;
    if (!this.#isTaking) return void this.end(received);
    this.#ending = received;
    this.#endingTimer = setTimeout(() => this.end(received), TAKING_MS);
  }

  stopTimer(): void {
    clearTimeout(this.#timer);
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
        this.#startTimer(Date.now());
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
    const memo = await this.workflows.describeInbox(principal, name);
    if (!memo || memo.epoch < epoch) throw agentNotFound();
    if (memo.epoch > epoch) this.end({ kind: 'gone' });
    else if (memo.isBye) this.end({ kind: 'bye' });
    if (this.#isEnded) return;
    this.onMemo?.(memo);
    if (memo.queued > 0 && (await this.#takeOrEnd())) return;
    this.#ack = undefined;
    this.#startTimer(memo.activeAt);
    this.onFree?.();
    this.onFree = undefined;
  }

  /** @returns whether the wait has ended */
  async #takeOrEnd(): Promise<boolean> {
    this.#isTaking = true;
    try {
      return (await this.#take()) || (this.#ending !== undefined && this.end(this.#ending));
    } catch (error) {
      if (this.#ending) this.end(this.#ending);
      throw error;
    } finally {
      this.#isTaking = false;
    }
  }

  /** @returns whether the wait has ended */
  async #take(): Promise<boolean> {
    const { principal, name, epoch } = this.session;
    const leaseMs = (this.options.leaseSeconds ?? LEASE_SECONDS) * 1000;
    const request: TakeRequest = {
      epoch,
      leaseMs,
      ...(this.#ack === undefined ? {} : { ack: this.#ack }),
    };
    let answer: TakeResult;
    try {
      answer = await this.workflows.updateInbox(principal, name, takeUpdate, request);
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      if (error.why === 'gone' || error.why === 'bye') return this.end({ kind: error.why });
      return false;
    }
    this.#ack = undefined;
    if (!answer.message) return false;
    const { previous } = answer;
    const message = await readMessage(this.storage, answer.message);
    if (!this.end({ kind: 'message', message, ...(previous ? { previous } : {}) }))
      void releaseMessage(this.workflows, this.session, message).catch(() => undefined);
    return true;
  }

  #startTimer(activeAt: number): void {
    if (this.#timer || this.#isEnded) return;
    const { timeoutMs } = this.options;
    const waitMs =
      typeof timeoutMs === 'function' ? timeoutMs(Math.max(0, Date.now() - activeAt)) : timeoutMs;
    // The first read may have been delayed.
    const leftMs = Math.max(0, waitMs - (performance.now() - this.#startedAtMs));
    this.#timer = setTimeout(() => this.endSoon({ kind: 'idle' }), Math.min(leftMs, LONGEST_MS));
  }
}

/** Returns a message that didn't reach its agent to the queue. No-op if its state has changed since. */
export async function releaseMessage(
  workflows: MailboxWorkflows,
  { principal, name, epoch }: AgentSession,
  { messageId, delivery }: { messageId: string; delivery: number },
): Promise<void> {
  const request: ReleaseRequest = { epoch, id: messageId, delivery };
  try {
    await workflows.updateInbox(principal, name, releaseUpdate, request);
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
  }
}
