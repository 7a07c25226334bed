/**
 * Waiting for a message. The wait hangs on a history long poll of the agent's inbox and looks at its memo when that tells of
 * a change, so that it writes nothing and needs no worker until there is something to take. It may end at any time and be
 * called again on another process: a message that was taken and not acknowledged comes again.
 */
import { LonghaulError } from '../../operations/errors.js';
import { LEASE_SECONDS, type Received, type ReceiveOptions } from '../types.js';
import {
  RELEASE,
  TAKE,
  type InboxMemo,
  type ReleaseRequest,
  type TakeAnswer,
  type TakeRequest,
} from '../wire.js';
import { withJitter } from '../../platform/jitter.js';
import type { Storage } from '../../platform/storage.js';
import type { Watches } from '../../engine/watch.js';
import { readMessage } from './contents.js';
import { Offers } from './offers.js';
import { Presence, type AgentSession, type PresenceOptions } from './presence.js';
import { agentNotFound } from './refusals.js';
import { RefusedError, type MailboxWorkflows } from './workflows.js';

/** Pause before another look while Temporal or every worker is away, in milliseconds. */
const RETRY_MS = 1_000;
/** Longest time-out that a timer takes, in milliseconds: 24 days. */
const LONGEST_MS = 2 ** 31 - 1;

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

  /** @throws LonghaulError `not_found` when there is no such life of an agent any more */
  async receive(life: AgentSession, options: ReceiveOptions): Promise<Received> {
    const { signal } = options;
    const { see, leave } = this.presence.join(life);
    if (signal.aborted) {
      leave();
      return { kind: 'aborted' };
    }
    const wait = new Wait(this.workflows, life, options, this.storage);
    const release = [
      leave,
      this.watches.follow(this.workflows.inboxOf(life.principal, life.name), wait.wake),
      () => wait.stopTimer(),
    ];
    const abort = () => wait.end({ kind: 'aborted' });
    signal.addEventListener('abort', abort, { once: true });
    wait.onLook = (memo) => {
      const { registration } = memo;
      see(memo);
      wait.onLook = see;
      if (registration) wait.onFree = () => release.push(this.#offers.join(life.principal, registration));
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
  readonly ended: Promise<Received>;
  /** Called at each look, with what the inbox shows. */
  onLook: ((memo: InboxMemo) => void) | undefined;
  /** Called once, when the agent turns out to have nothing to do. */
  onFree: (() => void) | undefined;
  #settle!: (received: Received) => void;
  #fail!: (error: unknown) => void;
  #isEnded = false;
  #isLooking = false;
  #hasChanged = false;
  #timer: NodeJS.Timeout | undefined;
  #ack: string | undefined;
  /** On the process's own clock, in milliseconds. */
  readonly #startedAtMs = performance.now();

  constructor(
    private readonly workflows: MailboxWorkflows,
    private readonly life: AgentSession,
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

  /** Something may have changed. */
  readonly wake = (): void => {
    this.#hasChanged = true;
    void this.#look();
  };

  /** @returns false when the wait had ended already */
  end(received: Received): boolean {
    if (this.#isEnded) return false;
    this.#isEnded = true;
    this.stopTimer();
    this.#settle(received);
    return true;
  }

  stopTimer(): void {
    clearTimeout(this.#timer);
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      while (this.#hasChanged && !this.#isEnded) {
        this.#hasChanged = false;
        await this.#lookOnce();
      }
    } catch (error) {
      if (error instanceof LonghaulError && error.kind === 'unavailable') {
        this.#startTimer(Date.now());
        setTimeout(this.wake, withJitter(RETRY_MS)).unref();
      } else {
        this.#isEnded = true;
        this.stopTimer();
        this.#fail(error);
      }
    } finally {
      this.#isLooking = false;
    }
  }

  async #lookOnce(): Promise<void> {
    const { principal, name, epoch } = this.life;
    const memo = await this.workflows.describeInbox(principal, name);
    if (!memo || memo.epoch < epoch) throw agentNotFound();
    if (memo.epoch > epoch) this.end({ kind: 'gone' });
    else if (memo.isBye) this.end({ kind: 'bye' });
    if (this.#isEnded) return;
    this.onLook?.(memo);
    if (memo.queued > 0 && (await this.#take())) return;
    this.#ack = undefined;
    this.#startTimer(memo.activeAt);
    this.onFree?.();
    this.onFree = undefined;
  }

  /** @returns has the wait ended? */
  async #take(): Promise<boolean> {
    const { principal, name, epoch } = this.life;
    const leaseMs = (this.options.leaseSeconds ?? LEASE_SECONDS) * 1000;
    const request: TakeRequest = {
      epoch,
      leaseMs,
      ...(this.#ack === undefined ? {} : { ack: this.#ack }),
    };
    let answer: TakeAnswer;
    try {
      answer = await this.workflows.updateInbox<TakeAnswer>(principal, name, TAKE, request);
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
      void releaseMessage(this.workflows, this.life, message).catch(() => undefined);
    return true;
  }

  #startTimer(activeAt: number): void {
    if (this.#timer || this.#isEnded) return;
    const { timeoutMs } = this.options;
    const waitMs =
      typeof timeoutMs === 'function' ? timeoutMs(Math.max(0, Date.now() - activeAt)) : timeoutMs;
    // The first look may have had to wait for its turn.
    const leftMs = Math.max(0, waitMs - (performance.now() - this.#startedAtMs));
    this.#timer = setTimeout(() => this.end({ kind: 'idle' }), Math.min(leftMs, LONGEST_MS));
  }
}

/** Puts a message back that didn't reach its agent. One that is elsewhere already stays there. */
export async function releaseMessage(
  workflows: MailboxWorkflows,
  { principal, name, epoch }: AgentSession,
  { messageId, delivery }: { messageId: string; delivery: number },
): Promise<void> {
  const request: ReleaseRequest = { epoch, id: messageId, delivery };
  try {
    await workflows.updateInbox(principal, name, RELEASE, request);
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
  }
}
