/** One session's open waits here. A delivery goes to one of them, and only a later wait can get the message again. */
import PQueue from 'p-queue';

interface OpenWait {
  /** Another wait of the session received a message. @param number of its delivery, counted by the inbox */
  onDelivered: (number: number) => void;
  wake: () => void;
}

export class SessionWaits {
  readonly #open = new Set<OpenWait>();
  /** Takes and releases, in flight or queued. */
  #pending = 0;
  readonly #queue = new PQueue({ concurrency: 1 });
  readonly #delayed = new Set<OpenWait>();

  /** @param onUnused called when no wait is open and nothing is being taken or released */
  constructor(private readonly onUnused: () => void) {}

  add(wait: OpenWait): void {
    this.#open.add(wait);
  }

  remove(wait: OpenWait): void {
    this.#open.delete(wait);
    this.#delayed.delete(wait);
    this.#checkUse();
  }

  /** Whether a message is being taken or released. If so, the wait is woken afterwards. */
  isBusyFor(wait: OpenWait): boolean {
    if (this.#pending > 0) this.#delayed.add(wait);
    return this.#pending > 0;
  }

  /** Takes or releases a message, in turn. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    this.#pending += 1;
    try {
      return await this.#queue.add(work);
    } finally {
      this.#pending -= 1;
      if (this.#pending === 0) this.#wakeDelayed();
      this.#checkUse();
    }
  }

  delivered(number: number, to: OpenWait): void {
    for (const wait of this.#open) if (wait !== to) wait.onDelivered(number);
  }

  #wakeDelayed(): void {
    const waits = [...this.#delayed];
    this.#delayed.clear();
    for (const { wake } of waits) wake();
  }

  #checkUse(): void {
    if (this.#open.size === 0 && this.#pending === 0) this.onUnused();
  }
}
