/**
 * Inputs, memos and state of the mailbox's workflows. History keeps them: a field may be added, and never renamed. All times
 * are epoch milliseconds.
 */
import type { MessageState, Registration, Selector } from './types.js';

/** A text in a workflow's state, or its key in storage. */
export type StoredText = { text: string } | { key: string };

export interface StoredMessage {
  id: string;
  from?: string;
  mode: string;
  content: StoredText;
  /** JSON. */
  context?: StoredText;
  sentAt: number;
  expiresAt: number;
  replyTo?: string;
  responseTo?: string;
  /** Set on a message for anyone: the agents that it was offered to. */
  selector?: Selector;
  /** Number of deliveries so far. */
  deliveries: number;
  /** Time at which a message for anyone returns to the directory. */
  handBackAt?: number;
  /** Default: {@link MAX_DELIVERIES}. */
  maxDeliveries?: number;
  /** Set with an idempotency key: distinguishes a repeat from another message with the same key. */
  digest?: string;
  /** Report of the agent that has the message. */
  progress?: StoredProgress;
}

/** A message as a server sends it. */
export interface SentMessage extends Omit<StoredMessage, 'sentAt' | 'expiresAt'> {
  /** Time for which it is kept, in milliseconds from the moment in which a workflow takes it. */
  ttlMs: number;
}

export interface StoredProgress {
  text: string;
  fraction?: number;
  at: number;
}

export interface StoredDeadLetter extends StoredMessage {
  deadAt: number;
}

export interface Lease {
  id: string;
  epoch: number;
  until: number;
  lengthMs: number;
  /** Number of its delivery, see {@link InboxState.taken}. */
  number: number;
  /** Last permitted delivery: when the lease ends, the message becomes a dead letter. */
  isLast?: true;
}

/** Outcome of a message that is no longer in the queue. */
export interface Outcome {
  id: string;
  state: Extract<MessageState, 'acknowledged' | 'answered' | 'expired' | 'dead_lettered' | 'dropped'>;
  at: number;
  /** Set on a dead letter. */
  deliveries?: number;
  from?: string;
  replyTo?: string;
  response?: StoredText;
  /** Digest of the response: distinguishes a repeat from another response. */
  digest?: string;
}

/** State of a message that is in the queue. */
export interface PendingOutcome {
  state: Extract<MessageState, 'queued' | 'delivered'>;
  /** End of its lease; of a delivered message. */
  leaseUntil?: number;
  progress?: StoredProgress;
}

/** When the oldest of the messages was sent; undefined without one. */
export function oldestOf(messages: readonly StoredMessage[]): number | undefined {
  return messages.length > 0 ? Math.min(...messages.map(({ sentAt }) => sentAt)) : undefined;
}

/** Memo of an inbox: read by describe, without a worker. */
export interface InboxMemo {
  version: 1;
  principal: string;
  name: string;
  /** Absent until an agent registers. */
  registration?: Registration;
  /** Number of the agent's session: seconds since 2026, strictly increasing. 0 until an agent registers. */
  epoch: number;
  /** The session was ended. */
  isBye?: true;
  /** Messages in the queue, with the leased one. */
  queued: number;
  leaseUntil?: number;
  /** Number of deliveries so far. Default: 0. */
  deliveries?: number;
  /** Time of the last heartbeat. */
  signedAt: number;
  activeAt: number;
  /** When the oldest message in the queue was sent. Absent without one. */
  oldestAt?: number;
  /** Number of changes of outcomes: messages that left the queue, were resent, or were reported on. */
  settled: number;
  /** Number of dead letters. Default: 0. */
  dead?: number;
  /** Set while no wait is open: the last heartbeat, also by another call. */
  awayAt?: number;
  /** Waits reach several servers, none of which sees when the agent leaves: it doesn't count as away in this session. */
  isRoaming?: true;
}

export interface DirectoryMemo {
  version: 1;
  principal: string;
  /** Selectors of the messages for anyone, each once, with the number of its messages. */
  wanted: { selector: Selector; count: number }[];
  /** When the oldest of them was sent. Absent without one. */
  oldestAt?: number;
}

export interface InboxInput {
  principal: string;
  name: string;
  /** A run continues as new after this many changes. */
  continueAfterChanges: number;
  state?: InboxState;
}

/** Carried from run to run; its parts are bounded so that it stays under 1 MiB. */
export interface InboxState {
  registration?: Registration;
  epoch: number;
  isBye?: true;
  queue: StoredMessage[];
  lease?: Lease;
  /** Number of deliveries so far, of all messages. Default: 0. */
  taken?: number;
  /** The message acknowledged last in this session. */
  previous?: { from?: string; mode: string };
  outcomes: Outcome[];
  /** Short IDs of the latest messages; with an idempotency key followed by a blank and the digest. */
  seen: string[];
  signedAt: number;
  activeAt: number;
  settled: number;
  /** Oldest first. */
  deadLetters?: StoredDeadLetter[];
  awayAt?: number;
  isRoaming?: true;
}

export interface DirectoryInput {
  principal: string;
  continueAfterChanges: number;
  state?: DirectoryState;
}

export interface DirectoryState {
  agents: Record<string, ListedAgent>;
  offers: StoredMessage[];
  publications: Publication[];
  /** Set in the home directory once an agent had to be listed in a shard; from then on it lists no other agents. */
  isSharded?: true;
}

export interface ListedAgent extends Registration {
  epoch: number;
  /** The session was ended: removed first when the list is full. */
  hasLeft?: true;
}

/** Recipients of a message for several agents or for anyone. */
export interface Publication {
  id: string;
  /** For a message for anyone: the agent that has it now; empty while no agent has. */
  recipients: string[];
  isOffer?: true;
  isExpired?: true;
  at: number;
  /** As {@link StoredMessage.digest}. */
  digest?: string;
}
