/**
 * An inbox's state and what is done with it: pure but for the time, which is the workflow's. First in, first out, one message
 * given at a time, so that each sender's order is kept; one whose lease ended is first again.
 */
import { INBOX_LIMIT, REPLIES_KEPT_MS, REPORT_INTERVAL_MS } from '../limits.js';
import type {
  InboxMemo,
  InboxState,
  Lease,
  Outcome,
  PendingOutcome,
  StoredDeadLetter,
  StoredMessage,
  StoredText,
} from '../state.js';
import type { ReportRequest } from '../wire.js';
import { DeadLetters } from './dead-letters.js';

/** How many responses to the agent's own messages may wait beyond the bound for senders: they can't be refused. */
const RESPONSES_BEYOND = 20;
const OUTCOMES_LIMIT = 200;
const SEEN_LIMIT = 1_000;
/** How long an agent has to fetch a message for anyone that it claimed, in milliseconds. */
const FETCH_MS = 60_000;

export class Inbox {
  readonly deadLetters: DeadLetters;

  constructor(
    readonly name: string,
    readonly principal: string,
    readonly state: InboxState,
  ) {
    this.deadLetters = new DeadLetters(state);
  }

  memo(): InboxMemo {
    const { registration, epoch, isBye, queue, lease, signedAt, activeAt, settled } = this.state;
    const { awayAt, isRoaming } = this.state;
    const dead = this.deadLetters.all.length;
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
      ...(dead > 0 ? { dead } : {}),
      ...(awayAt === undefined ? {} : { awayAt }),
      ...(isRoaming ? { isRoaming } : {}),
    };
  }

  isFull(): boolean {
    return this.state.queue.length >= INBOX_LIMIT;
  }

  /** Is there no room even for what can't be refused? */
  isOverflowing(): boolean {
    return this.state.queue.length >= INBOX_LIMIT + RESPONSES_BEYOND;
  }

  /** A call of the agent. */
  sign(): void {
    this.state.signedAt = Date.now();
    delete this.state.awayAt;
  }

  hasSeen(id: string): boolean {
    return this.#seen(id) !== undefined;
  }

  /** Is this another message than the one that had its ID, with the same idempotency key? */
  isConflict({ id, digest }: StoredMessage): boolean {
    const [, known] = this.#seen(id)?.split(' ') ?? [];
    return known !== undefined && digest !== undefined && known !== digest;
  }

  #seen(id: string): string | undefined {
    const short = shortOf(id);
    return this.state.seen.find((one) => one === short || one.startsWith(`${short} `));
  }

  put(message: StoredMessage): void {
    const { state } = this;
    const { id, digest } = message;
    state.seen.push(shortOf(id) + (digest === undefined ? '' : ` ${digest}`));
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

  /** What has become of a message. Dead letters are kept longer than outcomes. */
  fateOf(id: string): Outcome | PendingOutcome | undefined {
    const message = this.find(id);
    if (message) {
      const { progress } = message;
      const isDelivered = this.state.lease?.id === id;
      return {
        state: isDelivered ? 'delivered' : 'queued',
        ...(isDelivered && progress ? { progress } : {}),
      };
    }
    const dead = this.deadLetters.find(id);
    const outcome = this.outcomeOf(id);
    if (!dead || outcome) return outcome;
    return { id, state: 'dead_lettered', at: dead.deadAt, deliveries: dead.deliveries };
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
    this.deadLetters.dropOldest();
    const now = Date.now();
    for (const message of this.state.queue.filter((one) => this.#isExpired(one, now)))
      this.settle(message, { state: 'expired' });
  }

  /** Can this ID be acknowledged: was the message given, and is it still here? A dead letter may be done after all. */
  canAcknowledge(id: string): boolean {
    return (this.#held(id)?.deliveries ?? 0) > 0;
  }

  acknowledge(id: string): void {
    const message = this.#held(id);
    if (message && message.deliveries > 0) this.settle(message, { state: 'acknowledged' });
  }

  /** Answers a message that can be acknowledged, or that was. */
  answer(id: string, response: StoredText, digest: string): void {
    const message = this.#held(id);
    if (message) return this.settle(message, { state: 'answered', response, digest });
    const outcome = this.outcomeOf(id);
    if (!outcome) return;
    Object.assign(outcome, { state: 'answered', response, digest, at: Date.now() });
    this.state.settled += 1;
  }

  #held(id: string): StoredMessage | undefined {
    return this.find(id) ?? this.deadLetters.find(id);
  }

  /** The message to give: the leased one, else the first. */
  next(): StoredMessage | undefined {
    const { state } = this;
    return (state.lease && this.find(state.lease.id)) ?? state.queue[0];
  }

  /** Gives the next message. */
  take(message: StoredMessage, epoch: number, leaseMs: number): Lease {
    const lease: Lease = { id: message.id, epoch, until: Date.now() + leaseMs, lengthMs: leaseMs };
    message.deliveries += 1;
    delete message.progress;
    this.#lease(message, lease);
    this.state.activeAt = Date.now();
    return lease;
  }

  /** Is the last report on this message old enough for another one? */
  mayReport({ progress }: StoredMessage): boolean {
    const { lengthMs = Infinity } = this.state.lease ?? {};
    return !progress || Date.now() - progress.at >= Math.min(REPORT_INTERVAL_MS, lengthMs / 2);
  }

  report({ id, progress }: ReportRequest): void {
    const message = this.find(id);
    if (!message) return;
    message.progress = { ...progress, at: Date.now() };
    this.renewLease();
    this.state.settled += 1;
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

  /** The agent that has a message has failed. @returns the message, if it may be delivered no more */
  fail(): StoredMessage | undefined {
    const { lease } = this.state;
    this.unlease();
    return lease?.isLast ? this.find(lease.id) : undefined;
  }

  /** The message of the last lease, once that has ended. */
  failedAtLast(): StoredMessage | undefined {
    return this.#lastLeaseUntil() <= Date.now() ? this.fail() : undefined;
  }

  bury(message: StoredMessage): void {
    this.settle(message, { state: 'dead_lettered', deliveries: message.deliveries });
    this.deadLetters.add(message);
  }

  /** A dead letter waits again, last in the queue, or is offered to anyone again. */
  resend({ deadAt: _over, progress: _old, ...message }: StoredDeadLetter): void {
    const { state } = this;
    const now = Date.now();
    this.deadLetters.remove(message.id);
    state.outcomes = state.outcomes.filter(({ id }) => id !== message.id);
    state.queue.push({
      ...message,
      deliveries: 0,
      expiresAt: Math.max(message.expiresAt, now + message.expiresAt - message.sentAt),
      ...(message.selector ? { handBackAt: now } : {}),
    });
    state.activeAt = now;
    state.settled += 1;
  }

  /** Takes a message out of the queue or the dead letters and keeps what has become of it. */
  settle(
    message: StoredMessage,
    outcome: Pick<Outcome, 'state' | 'response' | 'digest' | 'deliveries'>,
  ): void {
    const { state } = this;
    this.#remove(message);
    this.deadLetters.remove(message.id);
    if (outcome.state === 'acknowledged' || outcome.state === 'answered')
      state.previous = { mode: message.mode, ...fromOf(message) };
    const { id, replyTo } = message;
    state.outcomes = state.outcomes.filter((one) => one.id !== id);
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
      const seen = this.#seen(message.id);
      state.seen = state.seen.filter((one) => one !== seen);
    }
    return over;
  }

  /** When something has to be done though nobody calls: a message handed back, or made a dead letter. */
  dueAt(): number {
    return Math.min(this.handBackAt(), this.#lastLeaseUntil());
  }

  #lastLeaseUntil(): number {
    const { lease } = this.state;
    return lease?.isLast ? lease.until : Infinity;
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
