/**
 * State of an inbox, and its transitions. Pure except for the workflow's time and log. First in, first out, with one delivered message at a
 * time, which keeps each sender's order. A message whose lease ended comes first again.
 */
import { log } from '@temporalio/workflow';
import { jsonBytes } from '../json-size.js';
import {
  DEAD_LETTERS_KEPT_MS,
  DEAD_LETTERS_LIMIT,
  INBOX_LIMIT,
  REPLIES_KEPT_MS,
  REPORT_INTERVAL_MS,
} from '../limits.js';
import {
  oldestOf,
  type InboxMemo,
  type InboxState,
  type Lease,
  type Outcome,
  type PendingOutcome,
  type StoredDeadLetter,
  type StoredMessage,
  type StoredText,
} from '../state.js';
import type { ReportRequest } from '../wire.js';

/** Room beyond the senders' limit for responses to the agent's own messages, which can't be refused. */
const RESPONSES_RESERVE = 20;
const OUTCOMES_LIMIT = 200;
const SEEN_LIMIT = 1_000;
/** Maximum size of the dead letters, in bytes of JSON. Keeps the inbox's state under 1 MiB. */
const DEAD_LETTERS_LIMIT_BYTES = 80 * 1024;
/** How long an agent has to fetch a message for anyone that it claimed, in milliseconds. */
const FETCH_LIMIT_MS = 60_000;

export class Inbox {
  constructor(
    readonly name: string,
    readonly principal: string,
    readonly state: InboxState,
  ) {}

  memo(): InboxMemo {
    const { principal, name } = this;
    const { queue, lease, taken, registration, epoch, isBye } = this.state;
    const { signedAt, activeAt, settled, awayAt, isRoaming } = this.state;
    return {
      version: 1,
      principal,
      name,
      epoch,
      queued: queue.length,
      signedAt,
      activeAt,
      settled,
      registration,
      isBye,
      leaseUntil: lease?.until,
      deliveries: taken,
      oldestAt: oldestOf(queue),
      dead: this.deadLetters.length || undefined,
      awayAt,
      isRoaming,
    };
  }

  isFull(): boolean {
    return this.state.queue.length >= INBOX_LIMIT;
  }

  /** Whether even responses, which can't be refused, have no room. */
  isOverflowing(): boolean {
    return this.state.queue.length >= INBOX_LIMIT + RESPONSES_RESERVE;
  }

  recordHeartbeat(): void {
    this.state.signedAt = Date.now();
    delete this.state.awayAt;
  }

  hasSeen(id: string): boolean {
    return this.#seen(id) !== undefined;
  }

  /** Whether an earlier message with the same ID, from the same idempotency key, had other content. */
  isConflict({ id, digest }: Pick<StoredMessage, 'id' | 'digest'>): boolean {
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
    const fetchMs = state.isBye ? 0 : FETCH_LIMIT_MS;
    state.queue.push(message.selector ? { ...message, handBackAt: Date.now() + fetchMs } : message);
    state.activeAt = Date.now();
  }

  find(id: string): StoredMessage | undefined {
    return this.state.queue.find((message) => message.id === id);
  }

  outcomeOf(id: string): Outcome | undefined {
    return this.state.outcomes.find((outcome) => outcome.id === id);
  }

  /** State of a message, or its outcome. Dead letters are kept longer than outcomes. */
  statusOf(id: string): Outcome | PendingOutcome | undefined {
    const message = this.find(id);
    if (message) {
      const { lease } = this.state;
      if (lease?.id !== id) return { state: 'queued' };
      // Queries see the time of the last workflow task, so the client decides whether the lease has ended.
      return { state: 'delivered', leaseUntil: lease.until, progress: message.progress };
    }
    const dead = this.findDead(id);
    const outcome = this.outcomeOf(id);
    if (!dead || outcome) return outcome;
    return { id, state: 'dead_lettered', at: dead.deadAt, deliveries: dead.deliveries };
  }

  hasExpired(): boolean {
    const now = Date.now();
    return this.state.queue.some((message) => this.#isExpired(message, now));
  }

  /** A message that the agent has doesn't expire. */
  #isExpired({ id, expiresAt }: StoredMessage, now: number): boolean {
    return expiresAt <= now && this.state.lease?.id !== id;
  }

  expire(): void {
    this.#dropOldestDead();
    const now = Date.now();
    for (const message of this.state.queue.filter((one) => this.#isExpired(one, now)))
      this.settle(message, { state: 'expired' });
  }

  /** Whether the message was delivered and is still here, possibly as a dead letter. */
  canAcknowledge(id: string): boolean {
    return (this.#queuedOrDead(id)?.deliveries ?? 0) > 0;
  }

  acknowledge(id: string): void {
    const message = this.#queuedOrDead(id);
    if (message && message.deliveries > 0) this.settle(message, { state: 'acknowledged' });
  }

  /** Answers a message that can be acknowledged, or was. */
  answer(id: string, response: StoredText, digest: string): void {
    const message = this.#queuedOrDead(id);
    if (message) return this.settle(message, { state: 'answered', response, digest });
    const outcome = this.outcomeOf(id);
    if (!outcome) return;
    Object.assign(outcome, { state: 'answered', response, digest, at: Date.now() });
    this.state.settled += 1;
  }

  #queuedOrDead(id: string): StoredMessage | undefined {
    return this.find(id) ?? this.findDead(id);
  }

  /** The message to deliver: the leased one, else the first. */
  next(): StoredMessage | undefined {
    const { state } = this;
    return (state.lease && this.find(state.lease.id)) ?? state.queue[0];
  }

  /** Milliseconds of lease left on a message that another wait got since this one began. @param after deliveries at that time */
  heldMs(after: number): number | undefined {
    const { lease } = this.state;
    if (!lease || lease.number <= after) return undefined;
    const leftMs = lease.until - Date.now();
    return leftMs > 0 ? leftMs : undefined;
  }

  take(message: StoredMessage, epoch: number, leaseMs: number): Lease {
    const { state } = this;
    const number = (state.taken ?? 0) + 1;
    state.taken = number;
    const lease: Lease = { id: message.id, epoch, until: Date.now() + leaseMs, lengthMs: leaseMs, number };
    message.deliveries += 1;
    delete message.progress;
    this.#lease(message, lease);
    state.activeAt = Date.now();
    return lease;
  }

  /** Whether the last report on this message is old enough for another. */
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

  renewLease(): void {
    const { lease } = this.state;
    const message = lease && this.find(lease.id);
    if (message) this.#lease(message, { ...lease, until: Date.now() + lease.lengthMs });
  }

  #lease(message: StoredMessage, lease: Lease): void {
    this.state.lease = lease;
    if (message.selector) message.handBackAt = lease.until;
  }

  /** Removes the lease. The message keeps its place, which is the first. */
  unlease(): void {
    delete this.state.lease;
  }

  /** Ends a lease without an acknowledgement. @returns the message, if that was its last delivery */
  endLease(): StoredMessage | undefined {
    const { lease } = this.state;
    this.unlease();
    return lease?.isLast ? this.find(lease.id) : undefined;
  }

  /** Ends the expired lease of a last delivery. @returns its message */
  endExpiredLastLease(): StoredMessage | undefined {
    return this.#lastLeaseUntil() <= Date.now() ? this.endLease() : undefined;
  }

  moveToDeadLetters(message: StoredMessage): void {
    this.settle(message, { state: 'dead_lettered', deliveries: message.deliveries });
    this.state.deadLetters = [...this.deadLetters, { ...message, handBackAt: undefined, deadAt: Date.now() }];
    this.#dropOldestDead();
  }

  /** Messages that reached their maximum deliveries, oldest first. */
  get deadLetters(): StoredDeadLetter[] {
    return this.state.deadLetters ?? [];
  }

  findDead(id: string): StoredDeadLetter | undefined {
    return this.deadLetters.find((letter) => letter.id === id);
  }

  #removeDead(id: string): void {
    if (this.findDead(id)) this.state.deadLetters = this.deadLetters.filter((letter) => letter.id !== id);
  }

  /** Drops dead letters beyond the limits in number, bytes and age, oldest first. */
  #dropOldestDead(): void {
    const oldest = Date.now() - DEAD_LETTERS_KEPT_MS;
    let bytes = jsonBytes(this.deadLetters);
    for (const letter of this.deadLetters) {
      const isOver = this.deadLetters.length > DEAD_LETTERS_LIMIT || bytes > DEAD_LETTERS_LIMIT_BYTES;
      if (letter.deadAt > oldest && !isOver) return;
      const { id, deadAt } = letter;
      log.warn('a dead letter was dropped', { id, deadAt: new Date(deadAt).toISOString() });
      bytes -= jsonBytes(letter) + 1;
      this.#removeDead(id);
    }
  }

  /** Moves a dead letter to the end of the queue. A message for anyone then returns to the directory. */
  resend({ deadAt: _over, progress: _old, ...message }: StoredDeadLetter): void {
    const { state } = this;
    const now = Date.now();
    this.#removeDead(message.id);
    state.outcomes = state.outcomes.filter(({ id }) => id !== message.id);
    state.queue.push({
      ...message,
      deliveries: 0,
      expiresAt: Math.max(message.expiresAt, now + message.expiresAt - message.sentAt),
      handBackAt: message.selector && now,
    });
    state.activeAt = now;
    state.settled += 1;
  }

  /** Removes a message from the queue or the dead letters, and keeps its outcome. */
  settle(
    message: StoredMessage,
    outcome: Pick<Outcome, 'state' | 'response' | 'digest' | 'deliveries'>,
  ): void {
    const { state } = this;
    this.#remove(message);
    this.#removeDead(message.id);
    if (outcome.state === 'acknowledged' || outcome.state === 'answered')
      state.previous = { mode: message.mode, from: message.from };
    const { id, from, replyTo } = message;
    state.outcomes = state.outcomes.filter((one) => one.id !== id);
    state.outcomes.push({ id, at: Date.now(), from, replyTo, ...outcome });
    const oldest = Date.now() - REPLIES_KEPT_MS;
    while (state.outcomes.length > OUTCOMES_LIMIT || (state.outcomes[0]?.at ?? oldest) < oldest)
      state.outcomes.shift();
    state.settled += 1;
  }

  /** Ends the session: requeues the agent's message, and returns messages for anyone to the directory. */
  endSession(): void {
    this.state.isBye = true;
    this.unlease();
    for (const message of this.state.queue) if (message.selector) message.handBackAt = Date.now();
  }

  /** Removes and returns the messages for anyone that are due back at the directory. */
  takeDue(): StoredMessage[] {
    const { state } = this;
    const over = state.queue.filter(({ handBackAt }) => handBackAt !== undefined && handBackAt <= Date.now());
    for (const message of over) {
      this.#remove(message);
      const seen = this.#seen(message.id);
      state.seen = state.seen.filter((one) => one !== seen);
    }
    return over;
  }

  /** Time of the next return to the directory, or next dead letter. */
  dueAt(): number {
    return Math.min(this.handBackAt(), this.#lastLeaseUntil());
  }

  #lastLeaseUntil(): number {
    const { lease } = this.state;
    return lease?.isLast ? lease.until : Infinity;
  }

  /** Time of the next return to the directory. */
  handBackAt(): number {
    return Math.min(...this.state.queue.map(({ handBackAt }) => handBackAt ?? Infinity));
  }

  #remove(message: StoredMessage): void {
    const { state } = this;
    state.queue = state.queue.filter((one) => one !== message);
    if (state.lease?.id === message.id) delete state.lease;
  }
}

/** A message's ID without the inbox's own name. The directory's IDs keep their `~`. */
function shortOf(id: string): string {
  return id.startsWith('~') ? id : id.slice(id.indexOf('~') + 1);
}
