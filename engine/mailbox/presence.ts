/** Signs of life of the agents that wait on this process: one tick for all of them, a signal for one whose last sign is old. */
import { SIGN, type Sign } from '../../operations/mailbox-wire.js';
import type { MailboxWorkflows } from './workflows.js';

const TICK_MS = 30_000;

/** A wait on this process. */
export interface Present {
  principal: string;
  name: string;
  epoch: number;
  /** Epoch milliseconds. */
  signedAt: number;
}

export class Presence {
  readonly #present = new Set<Present>();
  #tick: NodeJS.Timeout | undefined;

  /** @param signIntervalMs how old a last sign gets, in milliseconds */
  constructor(
    private readonly workflows: MailboxWorkflows,
    private readonly signIntervalMs: number,
  ) {}

  /** Until the result is called, this agent gives signs of life; now, if its last one is old. */
  join(present: Present): () => void {
    this.#present.add(present);
    this.sign(present);
    this.#tick ??= setInterval(
      () => this.#present.forEach((one) => this.sign(one)),
      Math.min(TICK_MS, this.signIntervalMs),
    ).unref();
    return () => {
      this.#present.delete(present);
      if (this.#present.size > 0) return;
      clearInterval(this.#tick);
      this.#tick = undefined;
    };
  }

  /** Signs, if the last sign is old. One that doesn't get through is tried with the next tick. */
  sign(present: Present): void {
    const { principal, name, epoch, signedAt } = present;
    // A sign from the future is old too: the clock was set back.
    if (Math.abs(Date.now() - signedAt) < this.signIntervalMs) return;
    present.signedAt = Date.now();
    const sign: Sign = { epoch };
    this.workflows.signalInbox(principal, name, SIGN, sign).catch(() => (present.signedAt = signedAt));
  }
}
