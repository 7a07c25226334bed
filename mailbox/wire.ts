/**
 * What the engine and the mailbox's workflows say to each other through Temporal. One file that both sides import, and that
 * has no imports of its own but types.
 */
import type { MessageState, Registration, Selector } from './types.js';

/** Names of the two workflows. */
export const INBOX_WORKFLOW = 'mailbox_inbox';
export const DIRECTORY_WORKFLOW = 'mailbox_directory';

/** Memo key of both: an {@link InboxMemo} or a {@link DirectoryMemo}. They have no marker, so they are no operations. */
export const MAILBOX_MEMO = 'mailbox';

/** Updates of an inbox. */
export const REGISTER = 'register';
export const PUT = 'put';
export const TAKE = 'take';
export const RELEASE = 'release';
export const RESPOND = 'respond';
export const BYE = 'bye';
export const REPORT = 'report';
export const SETTLE_DEAD_LETTER = 'settle_dead_letter';
/** Signals of an inbox: a {@link Sign} of life; a {@link StoredMessage} that can't be refused any more. */
export const SIGN = 'sign';
export const ASSIGN = 'assign';
/** Queries of an inbox: its queue; what has become of a message; its dead letters. */
export const QUEUE_QUERY = 'queue';
export const OUTCOME_QUERY = 'outcome';
export const DEAD_LETTERS_QUERY = 'dead_letters';

/** Updates of a directory. */
export const ENLIST_ALL = 'enlist_all';
/** Lists one agent, in the home directory: servers older than {@link ENLIST_ALL} send it. */
export const ENLIST = 'enlist';
export const PUBLISH = 'publish';
export const OFFER = 'offer';
export const CLAIM = 'claim';
/** Signals of a directory: an inbox hands back what its agent didn't do; an agent said good-bye or is forgotten. */
export const HAND_BACK = 'hand_back';
export const LEAVE = 'leave';
/** Queries of a directory: the agents; where a message went. */
export const AGENTS_QUERY = 'agents';
export const PUBLICATION_QUERY = 'publication';

/**
 * Number of shards of one principal's directory. The home directory, whose ID has no number, lists the first agents; shards
 * list the others. Fixed: every process has to look for an agent in the same shard.
 */
export const DIRECTORY_SHARDS = 4;

/** The shards in which an agent of this name is looked for, in order: the first by a hash (FNV-1a), the others if that is full. */
export function shardsOf(name: string): number[] {
  let hash = 0x811c9dc5;
  for (let index = 0; index < name.length; index += 1)
    hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193) >>> 0;
  return Array.from({ length: DIRECTORY_SHARDS }, (_, step) => (hash + step) % DIRECTORY_SHARDS);
}

/** Types of the failures with which updates are refused; the client's refusals leave no history. */
export type Refusal =
  /** This epoch is over. */
  | 'gone'
  | 'bye'
  /** Nothing to take or claim, nothing to change. */
  | 'nothing'
  /** That was done already. */
  | 'repeat'
  | 'full'
  | 'unknown_message'
  | 'answered'
  | 'not_parent'
  /** Another message has this ID already, by the same idempotency key. */
  | 'conflict'
  /** The last report is not old enough. */
  | 'too_soon'
  /** Neither the owner of the inbox nor the sender of the message. */
  | 'not_yours'
  /** The worker that took the update is of an older version, which doesn't know it. */
  | 'unknown_update';

/** A text in a workflow's state, or the key that it is stored under. */
export type StoredText = { text: string } | { key: string };

export interface StoredMessage {
  id: string;
  from?: string;
  mode: string;
  content: StoredText;
  /** JSON. */
  context?: StoredText;
  /** Epoch milliseconds, as all times here. */
  sentAt: number;
  expiresAt: number;
  replyTo?: string;
  responseTo?: string;
  /** Whom it was offered to, of a message for anyone. */
  selector?: Selector;
  /** How often it was given to an agent. */
  deliveries: number;
  /** When a message for anyone is handed back to the directory. */
  handBackAt?: number;
  /** Default: {@link MAX_DELIVERIES}, also for messages of earlier versions. */
  maxDeliveries?: number;
  /** Of a message with an idempotency key: tells a repeat from another message with the same key. */
  digest?: string;
  /** Of the agent that has it. */
  progress?: StoredProgress;
}

export interface StoredProgress {
  text: string;
  fraction?: number;
  at: number;
}

export interface DeadLetterState extends StoredMessage {
  deadAt: number;
}

export interface Lease {
  id: string;
  epoch: number;
  until: number;
  lengthMs: number;
  /** The message may be delivered no more: when the lease ends it becomes a dead letter. */
  isLast?: true;
}

/** What has become of a message that is no longer in the queue. */
export interface Outcome {
  id: string;
  state: Extract<MessageState, 'acknowledged' | 'answered' | 'expired' | 'dead_lettered' | 'dropped'>;
  at: number;
  /** Of a dead letter. */
  deliveries?: number;
  from?: string;
  replyTo?: string;
  response?: StoredText;
  /** Of the response: tells a repeat from another one. */
  digest?: string;
}

/** What has become of a message that is in the queue. */
export interface Pending {
  state: Extract<MessageState, 'queued' | 'delivered'>;
  progress?: StoredProgress;
}

/** What an inbox shows in its memo: read by describe, without a worker. */
export interface InboxMemo {
  version: 1;
  principal: string;
  name: string;
  /** Absent until an agent registers. */
  registration?: Registration;
  /** Which life of the agent; seconds since 2026, and never the same twice. 0 until an agent registers. */
  epoch: number;
  /** This life was ended. */
  isBye?: true;
  /** Messages in the queue, with the one that is leased. */
  queued: number;
  leaseUntil?: number;
  signedAt: number;
  activeAt: number;
  /** How often something has become of a message: it left the queue, it was resent, its agent reported. */
  settled: number;
  /** Dead letters. Default: 0. */
  dead?: number;
  /** Set while no wait follows the last one: the last sign of life, also by another call, in epoch milliseconds. */
  awayAt?: number;
  /** Waits come to several servers, none of which sees when the agent leaves: it doesn't count as away in this life. */
  isRoaming?: true;
}

export interface DirectoryMemo {
  version: 1;
  principal: string;
  /** What is offered to anyone: each selector once, with how many messages. */
  wanted: { selector: Selector; count: number }[];
}

export interface InboxInput {
  principal: string;
  name: string;
  /** A run continues as new from this many changes. */
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
  /** The message acknowledged last in this epoch. */
  previous?: { from?: string; mode: string };
  outcomes: Outcome[];
  /** Short IDs of the messages that came last; of those with an idempotency key also the digest, after a blank. */
  seen: string[];
  signedAt: number;
  activeAt: number;
  settled: number;
  /** Oldest first. */
  deadLetters?: DeadLetterState[];
  awayAt?: number;
  isRoaming?: true;
}

export interface DirectoryInput {
  principal: string;
  continueAfterChanges: number;
  state?: DirectoryState;
}

export interface DirectoryState {
  agents: Record<string, Listed>;
  offers: StoredMessage[];
  publications: Publication[];
  /** Set in the home directory once an agent had to be listed in a shard; from then on it lists no other agents. */
  isSharded?: true;
}

/** Answer of {@link AGENTS_QUERY}. */
export interface AgentsAnswer {
  agents: Listed[];
  offers: number;
  /** Are there agents in shards, too? */
  isSharded?: true;
}

export interface Listed extends Registration {
  epoch: number;
  /** It said good-bye: first to go when the list is full. */
  hasLeft?: true;
}

/** Where a message went that isn't for one agent alone. */
export interface Publication {
  id: string;
  /** Of a message for anyone: who has it now; empty while nobody has. */
  recipients: string[];
  isOffer?: true;
  isExpired?: true;
  at: number;
  /** As {@link StoredMessage.digest}. */
  digest?: string;
}

export interface RegisterAnswer {
  epoch: number;
  isTakeover: boolean;
  /** The life before was ended, so the directory doesn't list the agent any more. */
  wasBye: boolean;
}

export interface TakeRequest {
  epoch: number;
  ack?: string;
  leaseMs: number;
}

export interface TakeAnswer {
  message?: StoredMessage;
  previous?: { from?: string; mode: string };
}

export interface ReleaseRequest {
  epoch: number;
  id: string;
  delivery: number;
}

export interface RespondRequest {
  epoch: number;
  id: string;
  response: StoredText;
  digest: string;
}

export interface ByeRequest {
  /** Ends only this life; without it, whichever there is. */
  epoch?: number;
  /** Name of the parent that asks. */
  parent?: string;
}

/** A wait is open, unless `awayAt` is there. */
export interface Sign {
  epoch: number;
  /** No wait is open on this server since then; the agent's last sign of life, in epoch milliseconds. */
  awayAt?: number;
  /** Another server took the agent for away. */
  isRoaming?: true;
}

export interface ReportRequest {
  epoch: number;
  id: string;
  progress: Omit<StoredProgress, 'at'>;
}

export interface SettleDeadLetterRequest {
  id: string;
  action: 'resend' | 'drop';
  /** The agent that asks; without it, a person does. */
  by?: { name: string; epoch: number };
}

export interface EnlistRequest extends Listed {
  /** Write it also when nothing has changed. */
  isForced: boolean;
}

export interface EnlistAllRequest {
  agents: EnlistRequest[];
  /** How many agents this directory lists at most. */
  limit: number;
}

/** Answer of {@link ENLIST_ALL}, also as the detail of the refusal when it has nothing to change. */
export interface EnlistAllAnswer {
  /** Names of agents that have no room here. */
  refused: string[];
  /** How many agents this directory lists, without those that have left. */
  listed: number;
}

/** Passed on from the home directory through the shards of the name, to the one that lists it. */
export interface LeaveNotice {
  name: string;
  epoch: number;
  /** Its inbox is closed. */
  isForgotten: boolean;
}

export interface ClaimRequest {
  name: string;
  /** Absent in claims of older servers, whose agents the home directory lists. */
  registration?: Registration;
}
