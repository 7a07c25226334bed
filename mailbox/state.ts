/** Inputs, memos and state of the mailbox's workflows, in epoch milliseconds. History keeps them: add fields, but never rename one. */
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
  /** Set on a message for anyone: the agents that may take it. */
  selector?: Selector;
  deliveries: number;
  /** When a message for anyone returns to the directory. */
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
  /** How long the message is kept, in milliseconds from when a workflow takes it. */
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
  /** Last permitted delivery: the message becomes a dead letter when the lease ends. */
  isLast?: true;
}

/** Outcome of a message that has left the queue. */
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

export interface PendingOutcome {
  state: Extract<MessageState, 'queued' | 'delivered'>;
  /** End of a delivered message's lease. */
  leaseUntil?: number;
  progress?: StoredProgress;
}

export function oldestOf(messages: readonly StoredMessage[]): number | undefined {
  return messages.length > 0 ? Math.min(...messages.map(({ sentAt }) => sentAt)) : undefined;
}

/** Memo of an inbox. A describe reads it without a worker. */
export interface InboxMemo {
  version: 1;
  principal: string;
  name: string;
  /** Absent until an agent registers. */
  registration?: Registration;
  /** Number of the agent's session: seconds since 2026, strictly increasing. 0 until an agent registers. */
  epoch: number;
  isBye?: true;
  /** Messages in the queue, including the leased one. */
  queued: number;
  leaseUntil?: number;
  /** Deliveries so far. Default: 0. */
  deliveries?: number;
  signedAt: number;
  activeAt: number;
  /** When the oldest message in the queue was sent. */
  oldestAt?: number;
  /** Number of changed outcomes: messages that left the queue, were resent, or were reported on. */
  settled: number;
  /** Default: 0. */
  dead?: number;
  /** The last heartbeat, also by another call. Set while no wait is open. */
  awayAt?: number;
  /** Waits reach several servers, and none of them sees when the agent leaves. It doesn't count as away in this session. */
  isRoaming?: true;
}

export interface DirectoryMemo {
  version: 1;
  principal: string;
  /** Distinct selectors of the messages for anyone, with the number of messages for each. */
  wanted: { selector: Selector; count: number }[];
  /** When the oldest of them was sent. */
  oldestAt?: number;
}

export interface InboxInput {
  principal: string;
  name: string;
  /** Changes after which a run continues as new. */
  continueAfterChanges: number;
  state?: InboxState;
}

/** Carried from run to run. Its bounded parts keep it under 1 MiB. */
export interface InboxState {
  registration?: Registration;
  epoch: number;
  isBye?: true;
  queue: StoredMessage[];
  lease?: Lease;
  /** Deliveries of all messages so far. Default: 0. */
  taken?: number;
  /** The message acknowledged last in this session. */
  previous?: { from?: string; mode: string };
  outcomes: Outcome[];
  /** Short IDs of the latest messages. With an idempotency key, a space and the digest follow. */
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
  /** Set in the home directory once a shard had to list an agent. From then on it lists no new agents. */
  isSharded?: true;
}

export interface ListedAgent extends Registration {
  epoch: number;
  /** The session was ended: such agents are removed first when the list is full. */
  hasLeft?: true;
}

/** Recipients of a message for several agents or for anyone. */
export interface Publication {
  id: string;
  /** For a message for anyone: the agent that has it now, or empty. */
  recipients: string[];
  isOffer?: true;
  isExpired?: true;
  at: number;
  /** As {@link StoredMessage.digest}. */
  digest?: string;
}
