/**
 * Signs of life of the agents that wait on this process: one tick for all of them, a signal for one whose last sign is old.
 * And one signal for an agent that has left: its last wait here ended, and no other followed. Waits that follow each other
 * write nothing.
 */
import { SIGN, type InboxMemo, type Sign } from '../../operations/mailbox-wire.js';
import type { MailboxWorkflows } from './workflows.js';

const TICK_MS = 30_000;
/** How long the end of the process waits for the signals of the agents that leave with it, in milliseconds. */
const LAST_SIGNS_MS = 2_000;

/** One life of an agent. */
export interface Life {
  principal: string;
  name: string;
  epoch: number;
}

/** A wait on this process. */
interface Present extends Life {
  /** Epoch milliseconds. */
  signedAt: number;
  /** The end of a wait that the inbox showed when this one looked last. */
  awayAt?: number | undefined;
  /** When this agent left here before. */
  left: Left | undefined;
}

/** An agent without a wait on this process, until the inbox knows. */
interface Left extends Life {
  /** Epoch milliseconds. */
  at: number;
  timer: NodeJS.Timeout;
}

export interface PresenceOptions {
  /** How old a last sign gets, in milliseconds. */
  signIntervalMs: number;
  /** How long there may be between two waits, in milliseconds. */
  awayAfterMs: number;
}

export class Presence {
  readonly #present = new Set<Present>();
  readonly #left = new Map<string, Left>();
  #tick: NodeJS.Timeout | undefined;

  constructor(
    private readonly workflows: MailboxWorkflows,
    private readonly options: PresenceOptions,
  ) {}

  /**
   * Until the result's `leave` is called, this agent gives signs of life; now, if its last one is old.
   *
   * @param memo of its inbox; each later one goes to the result's `see`
   */
  join(life: Life, { signedAt, awayAt }: InboxMemo): { see: (memo: InboxMemo) => void; leave: () => void } {
    const key = keyOf(life);
    const left = this.#left.get(key);
    clearTimeout(left?.timer);
    this.#left.delete(key);
    const present: Present = { ...life, signedAt, awayAt, left };
    this.#present.add(present);
    if (awayAt === undefined) this.sign(present);
    else this.#return(present, {});
    this.#tick ??= setInterval(
      () => this.#present.forEach((one) => this.sign(one)),
      Math.min(TICK_MS, this.options.signIntervalMs),
    ).unref();
    return { see: (memo) => this.#see(present, memo), leave: () => this.#leave(present) };
  }

  /** Signs, if the last sign is old. One that doesn't get through is tried with the next tick. */
  sign(present: Life & { signedAt: number }): void {
    const { principal, name, epoch, signedAt } = present;
    // A sign from the future is old too: the clock was set back.
    if (Math.abs(Date.now() - signedAt) < this.options.signIntervalMs) return;
    present.signedAt = Date.now();
    const sign: Sign = { epoch };
    this.workflows.signalInbox(principal, name, SIGN, sign).catch(() => (present.signedAt = signedAt));
  }

  /** Says of the agents that left here that they are away, as no call can follow in this process. */
  async close(): Promise<void> {
    const signing = [...this.#left.values()].map((left) => this.#signOff(left));
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise((settle) => (timer = setTimeout(settle, LAST_SIGNS_MS)));
    await Promise.race([Promise.all(signing), limit]);
    clearTimeout(timer);
  }

  /** The inbox may show that the agent is away while it waits here: then another process, which saw it last, says so. */
  #see(present: Present, { awayAt }: InboxMemo): void {
    if (awayAt === present.awayAt) return;
    present.awayAt = awayAt;
    if (awayAt === undefined) return;
    // This process may have said so just before the wait began.
    const isOwn = awayAt === present.left?.at;
    this.#return(present, isOwn ? {} : { isRoaming: true });
  }

  #return(present: Present, more: Pick<Sign, 'isRoaming'>): void {
    const sign: Sign = { epoch: present.epoch, ...more };
    present.signedAt = Date.now();
    // Should this not get through, the next sign does the same.
    this.workflows
      .signalInbox(present.principal, present.name, SIGN, sign)
      .catch(() => (present.signedAt = 0));
  }

  #leave(present: Present): void {
    this.#present.delete(present);
    if (this.#present.size === 0) {
      clearInterval(this.#tick);
      this.#tick = undefined;
    }
    const { principal, name, epoch } = present;
    const key = keyOf(present);
    if ([...this.#present].some((other) => keyOf(other) === key)) return;
    clearTimeout(this.#left.get(key)?.timer);
    const timer = setTimeout(() => void this.#signOff(left), this.options.awayAfterMs).unref();
    const left: Left = { principal, name, epoch, at: Date.now(), timer };
    this.#left.set(key, left);
  }

  /** Signals that the agent is away, unless its inbox shows that it is busy, was ended, or has waits elsewhere. */
  async #signOff(left: Left): Promise<void> {
    const { principal, name, epoch, at: awayAt } = left;
    const key = keyOf(left);
    clearTimeout(left.timer);
    try {
      const memo = await this.workflows.describeInbox(principal, name);
      const isBack = this.#left.get(key) !== left;
      const isBusy = memo?.leaseUntil !== undefined;
      if (isBack || isBusy || memo?.epoch !== epoch || memo.isBye || memo.isRoaming) return;
      const sign: Sign = { epoch, awayAt };
      await this.workflows.signalInbox(principal, name, SIGN, sign);
    } catch {
      // It counts as gone once its last sign is old.
    } finally {
      if (this.#left.get(key) === left) this.#left.delete(key);
    }
  }
}

function keyOf({ principal, name, epoch }: Life): string {
  return JSON.stringify([principal, name, epoch]);
}
