/** Dead letters of an inbox: messages that reached their maximum deliveries. Limited in number, bytes and age. */
import { log } from '@temporalio/workflow';
import { jsonBytes } from '../json-size.js';
import { DEAD_LETTERS_KEPT_MS, DEAD_LETTERS_LIMIT, MAX_DELIVERIES } from '../limits.js';
import type { InboxState, StoredDeadLetter, StoredMessage } from '../state.js';

/** Maximum size, in bytes of JSON. Keeps the inbox's state under 1 MiB. */
const LIMIT_BYTES = 80 * 1024;

export function isExhausted({ deliveries, maxDeliveries = MAX_DELIVERIES }: StoredMessage): boolean {
  return deliveries >= maxDeliveries;
}

export class DeadLetters {
  constructor(private readonly state: InboxState) {}

  get all(): StoredDeadLetter[] {
    return this.state.deadLetters ?? [];
  }

  find(id: string): StoredDeadLetter | undefined {
    return this.all.find((letter) => letter.id === id);
  }

  add({ handBackAt: _over, ...message }: StoredMessage): void {
    this.state.deadLetters = [...this.all, { ...message, deadAt: Date.now() }];
    this.dropOldest();
  }

  remove(id: string): void {
    if (this.find(id)) this.state.deadLetters = this.all.filter((letter) => letter.id !== id);
  }

  /** Drops dead letters beyond the limits, oldest first. */
  dropOldest(): void {
    const oldest = Date.now() - DEAD_LETTERS_KEPT_MS;
    let bytes = jsonBytes(this.all);
    let first = this.all[0];
    while (first && (first.deadAt <= oldest || this.all.length > DEAD_LETTERS_LIMIT || bytes > LIMIT_BYTES)) {
      log.warn('a dead letter was dropped', { id: first.id, deadAt: new Date(first.deadAt).toISOString() });
      bytes -= jsonBytes(first) + 1;
      this.remove(first.id);
      first = this.all[0];
    }
  }
}
