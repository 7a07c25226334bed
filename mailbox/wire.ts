/**
 * Signals, updates and queries of the mailbox's workflows, with the types of their arguments and results. Client and workflow
 * sandbox share them.
 */
import { defineQuery, defineSignal, defineUpdate } from '../operations/definitions.js';
import type {
  ListedAgent,
  Outcome,
  PendingOutcome,
  Publication,
  SentMessage,
  StoredDeadLetter,
  StoredMessage,
  StoredProgress,
  StoredText,
} from './state.js';
import type { Registration } from './types.js';

export { DIRECTORY_WORKFLOW, INBOX_WORKFLOW } from '../operations/mailbox-workflows.js';

/**
 * Memo key of both workflow types: an {@link InboxMemo} or a {@link DirectoryMemo}. They have no start memo, so they are no
 * operations.
 */
export const MAILBOX_MEMO = 'mailbox';

/** Updates of an inbox. */
export const registerUpdate = defineUpdate<RegisterResult, [Registration]>('register');
export const putUpdate = defineUpdate<void, [SentMessage]>('put');
export const takeUpdate = defineUpdate<TakeResult, [TakeRequest]>('take');
export const releaseUpdate = defineUpdate<void, [ReleaseRequest]>('release');
export const respondUpdate = defineUpdate<void, [RespondRequest]>('respond');
export const byeUpdate = defineUpdate<void, [ByeRequest]>('bye');
export const reportUpdate = defineUpdate<void, [ReportRequest]>('report');
export const settleDeadLetterUpdate = defineUpdate<void, [SettleDeadLetterRequest]>('settle_dead_letter');
/** Signals of an inbox. An assigned message can't be refused. */
export const heartbeatSignal = defineSignal<[Heartbeat]>('sign');
export const assignSignal = defineSignal<[StoredMessage]>('assign');
/** Queries of an inbox. The outcome is that of a message ID. */
export const queueQuery = defineQuery<QueueResult>('queue');
export const outcomeQuery = defineQuery<Outcome | PendingOutcome | null, [messageId: string]>('outcome');
export const deadLettersQuery = defineQuery<StoredDeadLetter[]>('dead_letters');

/** Updates of a directory. */
export const enlistAllUpdate = defineUpdate<EnlistAllResult, [EnlistAllRequest]>('enlist_all');
export const publishUpdate = defineUpdate<void, [PublishRequest]>('publish');
export const offerUpdate = defineUpdate<void, [SentMessage]>('offer');
/** Result: ID of the message. */
export const claimUpdate = defineUpdate<string, [ClaimRequest]>('claim');
/** Signals of a directory: an inbox returns a message for anyone; a session was ended or an inbox closed. */
export const handBackSignal = defineSignal<[StoredMessage]>('hand_back');
export const leaveSignal = defineSignal<[LeaveNotice]>('leave');
/** Queries of a directory. */
export const agentsQuery = defineQuery<AgentsResult>('agents');
export const publicationQuery = defineQuery<Publication | null, [messageId: string]>('publication');

/** Failure types of refused updates. Refusals of a validator leave no history. */
export type Refusal =
  /** The epoch is an earlier session's. */
  | 'gone'
  | 'bye'
  /** Nothing to take, claim or change. */
  | 'nothing'
  /** Another wait that is open has the message; detail: {@link HeldMessage}. */
  | 'held'
  /** Already done. */
  | 'repeat'
  | 'full'
  | 'unknown_message'
  | 'answered'
  | 'not_parent'
  /** Another message has this ID already, by the same idempotency key. */
  | 'conflict'
  /** Sooner after the last report than the minimum interval. */
  | 'too_soon'
  /** Neither the owner of the inbox nor the sender of the message. */
  | 'not_yours';

export interface RegisterResult {
  epoch: number;
  isTakeover: boolean;
  /** The session before was ended, so the directory doesn't list the agent any more. */
  wasBye: boolean;
}

export interface TakeRequest {
  epoch: number;
  ack?: string;
  leaseMs: number;
  /**
   * `deliveries` of the memo when the wait began: a message that was delivered since, to another wait, isn't delivered again before
   * its lease ends.
   */
  after: number;
}

export interface TakeResult {
  message?: StoredMessage;
  /** Number of the delivery, counted over all messages of the inbox; with a message. */
  number?: number;
  previous?: { from?: string; mode: string };
}

/** A message that another wait has received. */
export interface HeldMessage {
  /** Remaining time of its lease, in milliseconds. */
  leaseMs: number;
}

export interface ReleaseRequest {
  epoch: number;
  id: string;
  delivery: number;
}

export interface QueueResult {
  queue: StoredMessage[];
  /** ID of the delivered message. */
  leased?: string;
  /** End of its lease, in epoch milliseconds. */
  leaseUntil?: number;
}

interface RespondRequest {
  epoch: number;
  id: string;
  response: StoredText;
  digest: string;
}

export interface ByeRequest {
  /** Ends only this session. Default: the current one. */
  epoch?: number;
  /** Name of the requesting parent. */
  parent?: string;
}

/** An agent's heartbeat. Its wait is open, unless `awayAt` is set. */
export interface Heartbeat {
  epoch: number;
  /** The agent's last call, after which no wait is open on this server, in epoch milliseconds. */
  awayAt?: number;
  /** Another server reported the agent as away. */
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
  /** The requesting agent. Absent in requests of a person. */
  by?: { name: string; epoch: number };
}

export interface EnlistRequest extends ListedAgent {
  /** Write the entry even if nothing has changed. */
  isForced: boolean;
}

export interface EnlistAllRequest {
  agents: EnlistRequest[];
  /** Maximum agents in this directory. */
  limit: number;
}

/** Result of {@link enlistAllUpdate}, also as the detail of its refusal when it has nothing to change. */
export interface EnlistAllResult {
  /** Names of agents that have no room here. */
  refused: string[];
  /** Number of agents in this directory, without those that have left. */
  listed: number;
}

export type PublishRequest = Pick<Publication, 'id' | 'recipients' | 'digest'>;

export interface ClaimRequest {
  name: string;
  registration: Registration;
}

/** Forwarded from the home directory through the shards of the name, to the one that lists the agent. */
export interface LeaveNotice {
  name: string;
  epoch: number;
  /** Its inbox is closed. */
  isForgotten: boolean;
}

export interface AgentsResult {
  agents: ListedAgent[];
  /** Number of messages for anyone. */
  offers: number;
  /** Whether shards list agents, too. */
  isSharded?: true;
}
