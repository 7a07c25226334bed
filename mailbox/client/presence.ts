/**
 * Signs of life of the agents that wait on this process: one tick for all of them, a signal for one whose last sign is old.
 * And one signal for an agent that has left: its last wait here ended, and no other followed. Waits that follow each other
 * write nothing.
 */
import { SIGN, type InboxMemo, type Sign } from '../wire.js';
import type { MailboxWorkflows } from './workflows.js';

const TICK_MS = 30_000;
/** How long the end of the process waits for the signals of the agents that leave with it, in milliseconds. */
const LAST_SIGNS_MS = 2_000;

/** One life of an agent. */
export interface AgentSession {
  principal: string;
  name: string;
  epoch: number;
}

/** A life that has waits on this process, or had its last one a moment ago. */
interface Present extends AgentSession {
  openWaits: number;
  /** In epoch milliseconds, as the inbox showed it; not there before the first look at it. */
  signedAt?: number;
  /** As the inbox showed it at the last look. */
  awayAt?: number | undefined;
  /** End of the last wait here, in epoch milliseconds. */
  leftAt?: number;
  /** Runs after the last wait. */
  timer?: NodeJS.Timeout;
}

/** An open wait. */
export interface Attendance {
  /** Takes what the inbox shows, at each look. */
  see: (memo: InboxMemo) => void;
  leave: () => void;
}

export interface PresenceOptions {
  /** How old a last sign gets, in milliseconds. */
  signIntervalMs: number;
  /** How long there may be between two waits, in milliseconds. */
  awayAfterMs: number;
}

export class Presence {
  readonly #lives = new Map<string, Present>();
  #tick: NodeJS.Timeout | undefined;

  constructor(
    private readonly workflows: MailboxWorkflows,
    private readonly options: PresenceOptions,
  ) {}

  /** A wait is open until `leave` is called: meanwhile this agent gives signs of life. */
  join({ principal, name, epoch }: AgentSession): Attendance {
    const key = JSON.stringify([principal, name, epoch]);
    const present = this.#lives.get(key) ?? { principal, name, epoch, openWaits: 0 };
    this.#lives.set(key, present);
    clearTimeout(present.timer);
    present.openWaits += 1;
    this.#tick ??= setInterval(
      () => this.#lives.forEach((one) => this.#renew(one)),
      Math.min(TICK_MS, this.options.signIntervalMs),
    ).unref();
    let isFirst = true;
    return {
      see: (memo) => {
        this.#see(present, memo, isFirst);
        isFirst = false;
      },
      leave: () => this.#leave(key, present),
    };
  }

  /**
   * Signs for an agent that makes another call than a wait, if its last sign is old.
   *
   * @param memo of its inbox
   */
  sign(life: AgentSession, { signedAt, awayAt }: InboxMemo): void {
    if (!this.#isOld(signedAt)) return;
    const { epoch } = life;
    // This shows no open wait: who was away still is.
    const sign: Sign = { epoch, ...(awayAt === undefined ? {} : { awayAt: Date.now() }) };
    this.#send(life, sign).catch(() => undefined);
  }

  /** Says of the agents that left here that they are away, as no call can follow in this process. Takes 2 s at most. */
  async close(): Promise<void> {
    const left = [...this.#lives].filter(([, { openWaits }]) => openWaits === 0);
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise((settle) => (timer = setTimeout(settle, LAST_SIGNS_MS)));
    await Promise.race([Promise.all(left.map(([key, present]) => this.#signOff(key, present))), limit]);
    clearTimeout(timer);
  }

  #see(present: Present, { signedAt, awayAt }: InboxMemo, isFirst: boolean): void {
    present.signedAt ??= signedAt;
    const isNews = awayAt !== undefined && awayAt !== present.awayAt;
    present.awayAt = awayAt;
    if (!isNews) return this.#renew(present);
    // The agent waits here, and yet another process, which saw it last, took it for away during this wait.
    const isRoaming = !isFirst && awayAt !== present.leftAt;
    this.#return(present, isRoaming ? { isRoaming } : {});
  }

  /** Signs, if the last sign is old. One that doesn't get through is tried with the next tick. */
  #renew(present: Present): void {
    if (present.openWaits === 0 || present.signedAt === undefined || !this.#isOld(present.signedAt)) return;
    this.#return(present, {});
  }

  #return(present: Present, more: Pick<Sign, 'isRoaming'>): void {
    const { epoch, signedAt } = present;
    present.signedAt = Date.now();
    this.#send(present, { epoch, ...more }).catch(() => {
      // Then the next tick, or the next look, does it.
      delete present.awayAt;
      if (signedAt !== undefined) present.signedAt = signedAt;
    });
  }

  /** A sign from the future is old too: the clock was set back. */
  #isOld(signedAt: number): boolean {
    return Math.abs(Date.now() - signedAt) >= this.options.signIntervalMs;
  }

  #leave(key: string, present: Present): void {
    present.openWaits -= 1;
    if (present.openWaits > 0) return;
    present.leftAt = Date.now();
    const signOff = () => void this.#signOff(key, present);
    present.timer = setTimeout(signOff, this.options.awayAfterMs).unref();
  }

  /** Signals that the agent is away, unless its inbox shows that it is busy, was ended, or has waits elsewhere. */
  async #signOff(key: string, present: Present): Promise<void> {
    clearTimeout(present.timer);
    const { principal, name, epoch, leftAt: awayAt } = present;
    try {
      const memo = await this.workflows.describeInbox(principal, name);
      const isBusy = memo?.leaseUntil !== undefined;
      const isKnown = memo?.epoch !== epoch || memo.isBye || memo.isRoaming || memo.awayAt !== undefined;
      if (present.openWaits > 0 || isBusy || isKnown || awayAt === undefined) return;
      await this.#send(present, { epoch, awayAt });
    } catch {
      // It counts as gone once its last sign is old.
    } finally {
      if (present.openWaits === 0) this.#forget(key);
    }
  }

  #forget(key: string): void {
    this.#lives.delete(key);
    if (this.#lives.size > 0) return;
    clearInterval(this.#tick);
    this.#tick = undefined;
  }

  #send({ principal, name }: AgentSession, sign: Sign): Promise<void> {
    return this.workflows.signalInbox(principal, name, SIGN, sign);
  }
}
