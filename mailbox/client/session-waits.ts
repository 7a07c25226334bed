/**
 * The open waits of one session on this process. A message goes to one of the waits that are open when it is delivered; only a wait
 * that began after its delivery gets it again.
 */
import PQueue from 'p-queue';

/** A wait that is open. */
interface OpenWait {
  /** Another wait of the session has received a message. @param number of its delivery, in the inbox's count */
  onDelivered: (number: number) => void;
  /** Reads the inbox again. */
  wake: () => void;
}

export class SessionWaits {
  readonly #open = new Set<OpenWait>();
  /** Takes and releases in flight or queued. */
  #pending = 0;
  readonly #queue = new PQueue({ concurrency: 1 });
  readonly #delayed = new Set<OpenWait>();

  /** @param onUnused called when no wait is open, and none takes or releases a message */
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

  /** Takes or releases a message, after those before it. */
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

  /** Records a delivery to one of the waits. */
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
