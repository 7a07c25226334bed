/**
 * An inbox's state and what is done with it: pure but for the time, which is the workflow's. First in, first out, one message
 * given at a time, so that each sender's order is kept; one whose lease ended is first again.
 */
import { INBOX_LIMIT, REPLIES_KEPT_MS } from '../../operations/mailbox.js';
import type {
  InboxMemo,
  InboxState,
  Lease,
  Outcome,
  StoredMessage,
  StoredText,
} from '../../operations/mailbox-wire.js';

/** How many responses to the agent's own messages may wait beyond the bound for senders: they can't be refused. */
const RESPONSES_BEYOND = 20;
const OUTCOMES_LIMIT = 200;
const SEEN_LIMIT = 1_000;
/** How long an agent has to fetch a message for anyone that it claimed, in milliseconds. */
const FETCH_MS = 60_000;

export class Inbox {
  constructor(
    readonly name: string,
    readonly principal: string,
    readonly state: InboxState,
  ) {}

  memo(): InboxMemo {
    const { registration, epoch, isBye, queue, lease, signedAt, activeAt, settled } = this.state;
    return {
      version: 1,
      principal: this.principal,
      name: this.name,
      epoch,
      queued: queue.length,
      signedAt,
      activeAt,
      settled,
      ...(registration ? { registration } : {}),
      ...(isBye ? { isBye } : {}),
      ...(lease ? { leaseUntil: lease.until } : {}),
    };
  }

  isFull(): boolean {
    return this.state.queue.length >= INBOX_LIMIT;
  }

  /** Is there no room even for what can't be refused? */
  isOverflowing(): boolean {
    return this.state.queue.length >= INBOX_LIMIT + RESPONSES_BEYOND;
  }

  hasSeen(id: string): boolean {
    return this.state.seen.includes(shortOf(id));
  }

  put(message: StoredMessage): void {
    const { state } = this;
    state.seen.push(shortOf(message.id));
    if (state.seen.length > SEEN_LIMIT) state.seen.shift();
    const fetchMs = state.isBye ? 0 : FETCH_MS;
    state.queue.push(message.selector ? { ...message, handBackAt: Date.now() + fetchMs } : message);
    state.activeAt = Date.now();
  }

  find(id: string): StoredMessage | undefined {
    return this.state.queue.find((message) => message.id === id);
  }

  outcomeOf(id: string): Outcome | undefined {
    return this.state.outcomes.find((outcome) => outcome.id === id);
  }

  hasExpired(): boolean {
    const now = Date.now();
    return this.state.queue.some((message) => this.#isExpired(message, now));
  }

  /** A message that an agent has is its own, however late it is. */
  #isExpired({ id, expiresAt }: StoredMessage, now: number): boolean {
    return expiresAt <= now && this.state.lease?.id !== id;
  }

  /** Takes out what nobody may get any more. */
  expire(): void {
    const now = Date.now();
    for (const message of this.state.queue.filter((one) => this.#isExpired(one, now)))
      this.settle(message, { state: 'expired' });
  }

  /** Can this ID be acknowledged: was the message given, and is it still here? */
  canAcknowledge(id: string): boolean {
    return (this.find(id)?.deliveries ?? 0) > 0;
  }

  acknowledge(id: string): void {
    const message = this.find(id);
    if (message && message.deliveries > 0) this.settle(message, { state: 'acknowledged' });
  }

  /** Gives the first message: the leased one again, while the same life of the agent holds it. */
  take(epoch: number, leaseMs: number): StoredMessage | undefined {
    const { state } = this;
    const message = (state.lease && this.find(state.lease.id)) ?? state.queue[0];
    if (!message) return undefined;
    const lease: Lease = { id: message.id, epoch, until: Date.now() + leaseMs, lengthMs: leaseMs };
    message.deliveries += 1;
    this.#lease(message, lease);
    state.activeAt = Date.now();
    return message;
  }

  /** The agent is at work on its message: it has it for longer. */
  renewLease(): void {
    const { lease } = this.state;
    const message = lease && this.find(lease.id);
    if (message) this.#lease(message, { ...lease, until: Date.now() + lease.lengthMs });
  }

  #lease(message: StoredMessage, lease: Lease): void {
    this.state.lease = lease;
    if (message.selector) message.handBackAt = lease.until;
  }

  /** Ends the lease: the message waits again, first in the queue, where it is. */
  unlease(): void {
    delete this.state.lease;
  }

  /** Takes a message out of the queue and keeps what has become of it. */
  settle(message: StoredMessage, outcome: Pick<Outcome, 'state' | 'response' | 'digest'>): void {
    const { state } = this;
    this.#remove(message);
    if (outcome.state !== 'expired') state.previous = { mode: message.mode, ...fromOf(message) };
    const { id, replyTo } = message;
    state.outcomes.push({
      id,
      at: Date.now(),
      ...fromOf(message),
      ...(replyTo === undefined ? {} : { replyTo }),
      ...outcome,
    });
    const oldest = Date.now() - REPLIES_KEPT_MS;
    while (state.outcomes.length > OUTCOMES_LIMIT || (state.outcomes[0]?.at ?? oldest) < oldest)
      state.outcomes.shift();
    state.settled += 1;
  }

  /** An acknowledged message is answered after all. */
  answer(outcome: Outcome, response: StoredText, digest: string): void {
    Object.assign(outcome, { state: 'answered', response, digest, at: Date.now() });
    this.state.settled += 1;
  }

  /** The life of the agent is over: its message waits again, and those for anyone go back. */
  end(): void {
    this.state.isBye = true;
    this.unlease();
    for (const message of this.state.queue) if (message.selector) message.handBackAt = Date.now();
  }

  /** Messages for anyone whose time here is over. They are forgotten here. */
  takeBack(): StoredMessage[] {
    const { state } = this;
    const over = state.queue.filter(({ handBackAt }) => handBackAt !== undefined && handBackAt <= Date.now());
    for (const message of over) {
      this.#remove(message);
      state.seen = state.seen.filter((id) => id !== shortOf(message.id));
    }
    return over;
  }

  /** When the next message for anyone has to be handed back. */
  handBackAt(): number {
    return Math.min(...this.state.queue.map(({ handBackAt }) => handBackAt ?? Infinity));
  }

  #remove(message: StoredMessage): void {
    const { state } = this;
    state.queue = state.queue.filter((one) => one !== message);
    if (state.lease?.id === message.id) delete state.lease;
  }
}

export function emptyInbox(now: number): InboxState {
  return { epoch: 0, queue: [], outcomes: [], seen: [], signedAt: 0, activeAt: now, settled: 0 };
}

/** The letters of an ID, with whether it is the directory's: the name before them is the inbox's own. */
function shortOf(id: string): string {
  return id.startsWith('~') ? id : id.slice(id.indexOf('~') + 1);
}

function fromOf({ from }: StoredMessage): { from?: string } {
  return from === undefined ? {} : { from };
}
