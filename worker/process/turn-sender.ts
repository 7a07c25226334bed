/** Requests and returns of turns on their way from one worker to queues, in batches. */
import type { TurnChange } from '../../operations/wire/queue-wire.js';

/** Changes in one signal, of a few hundred bytes each. */
const MAX_CHANGES = 100;

interface Batch {
  changes: TurnChange[];
  sent: Promise<void>;
}

/**
 * Sends one signal at a time to each queue, in the order of the calls. Changes that come meanwhile go together with the next signal, so
 * a busy queue gets fewer of them, and an idle one no later.
 */
export class TurnSender {
  /** By the queue's workflow ID: the batch that changes still join. */
  readonly #open = new Map<string, Batch>();
  /** By the queue's workflow ID: the last batch, sent or not. */
  readonly #last = new Map<string, Promise<void>>();

  /** @param signal sends one batch, and ends within a time limit: the next one waits for it */
  constructor(private readonly signal: (queueId: string, changes: TurnChange[]) => Promise<void>) {}

  /** Resolves once the queue has the change. @throws what the signal of its batch throws */
  send(queueId: string, change: TurnChange): Promise<void> {
    const open = this.#open.get(queueId);
    if (!open || open.changes.length >= MAX_CHANGES) return this.#enqueue(queueId, [change]);
    open.changes.push(change);
    return open.sent;
  }

  #enqueue(queueId: string, changes: TurnChange[]): Promise<void> {
    const sent = this.#sendAfter(this.#last.get(queueId), queueId, changes);
    this.#open.set(queueId, { changes, sent });
    this.#last.set(queueId, sent);
    return sent;
  }

  async #sendAfter(before: Promise<void> | undefined, queueId: string, changes: TurnChange[]): Promise<void> {
    // Even with nothing before it, calls of the same moment join.
    await before?.catch(() => undefined);
    if (this.#open.get(queueId)?.changes === changes) this.#open.delete(queueId);
    try {
      await this.signal(queueId, changes);
    } finally {
      if (!this.#open.has(queueId)) this.#last.delete(queueId);
    }
  }
}
