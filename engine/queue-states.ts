/** Task queues as Temporal describes them, for the status messages of blocked operations. One call serves all readers. */
import type { Client } from '@temporalio/client';
import { describeQueue, type QueueState } from '../platform/host-presence.js';

/** How long a description serves further readers, in milliseconds. */
const FRESH_MS = 3_000;

interface Temporal {
  call<T>(work: (client: Client) => Promise<T>): Promise<T>;
}

export class QueueStates {
  readonly #kept = new Map<string, { state: Promise<QueueState>; readAtMs: number }>();

  constructor(private readonly temporal: Temporal) {}

  /** @throws LonghaulError `unavailable` */
  read(queue: string): Promise<QueueState> {
    const kept = this.#kept.get(queue);
    if (kept && performance.now() - kept.readAtMs < FRESH_MS) return kept.state;
    const state = this.temporal.call((client) => describeQueue(client, queue, 'workflows'));
    this.#kept.set(queue, { state, readAtMs: performance.now() });
    // A failed read serves only the readers that wait already.
    state.catch(() => this.#kept.delete(queue));
    return state;
  }
}
