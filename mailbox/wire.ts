/** Signals, updates and queries of the mailbox's workflows, with their types. The client and the workflow sandbox share them. */
import { defineQuery, defineSignal, defineUpdate } from '../operations/tool/definitions.js';
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

export { DIRECTORY_WORKFLOW, INBOX_WORKFLOW } from '../operations/wire/index.js';

/** Memo key of both workflow types: an {@link InboxMemo} or a {@link DirectoryMemo}. Without a start memo they aren't operations. */
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
/** Signals of an inbox. It can't refuse an assigned message. */
export const heartbeatSignal = defineSignal<[Heartbeat]>('sign');
export const assignSignal = defineSignal<[StoredMessage]>('assign');
/** Queries of an inbox. */
export const queueQuery = defineQuery<QueueResult>('queue');
export const outcomeQuery = defineQuery<Outcome | PendingOutcome | null, [messageId: string]>('outcome');
export const deadLettersQuery = defineQuery<StoredDeadLetter[]>('dead_letters');

/** Updates of a directory. */
export const enlistAllUpdate = defineUpdate<EnlistAllResult, [EnlistAllRequest]>('enlist_all');
export const publishUpdate = defineUpdate<void, [PublishRequest]>('publish');
export const offerUpdate = defineUpdate<void, [SentMessage]>('offer');
/** Returns the message's ID. */
export const claimUpdate = defineUpdate<string, [ClaimRequest]>('claim');
/** Signals of a directory: an inbox returns a message for anyone, its session ended, or it closed. */
export const handBackSignal = defineSignal<[StoredMessage]>('hand_back');
export const leaveSignal = defineSignal<[LeaveNotice]>('leave');
/** Queries of a directory. */
export const agentsQuery = defineQuery<AgentsResult>('agents');
export const publicationQuery = defineQuery<Publication | null, [messageId: string]>('publication');

/** Failure types of refused updates. A validator's refusals leave no history. */
export type Refusal =
  /** An earlier session's epoch. */
  | 'gone'
  | 'bye'
  /** Nothing to take, claim or change. */
  | 'nothing'
  /** Another open wait has the message; detail: {@link HeldMessage}. */
  | 'held'
  /** Already done. */
  | 'repeat'
  | 'full'
  | 'unknown_message'
  | 'answered'
  | 'not_parent'
  /** Another message already has this ID, from the same idempotency key. */
  | 'conflict'
  /** The minimum interval since the last report hasn't passed. */
  | 'too_soon'
  /** Neither the inbox's owner nor the message's sender. */
  | 'not_yours';

export interface RegisterResult {
  epoch: number;
  isTakeover: boolean;
  /** The previous session was ended, so the directory no longer lists the agent. */
  wasBye: boolean;
}

export interface TakeRequest {
  epoch: number;
  ack?: string;
  leaseMs: number;
  /** The memo's `deliveries` when the wait began: a message delivered to another wait since then stays there until its lease ends. */
  after: number;
}

export interface TakeResult {
  message?: StoredMessage;
  /** Number of the delivery, counted over all the inbox's messages. Set with a message. */
  number?: number;
  previous?: { from?: string; mode: string };
}

/** A message that another wait received. */
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
  /** In epoch milliseconds. */
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

/** An agent's heartbeat. Its wait is open unless `awayAt` is set. */
export interface Heartbeat {
  epoch: number;
  /** The agent's last call, in epoch milliseconds. No wait is open on this server after it. */
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
  /** The requesting agent. Absent for a person. */
  by?: { name: string; epoch: number };
}

export interface EnlistRequest extends ListedAgent {
  /** Writes the entry even if nothing has changed. */
  isForced: boolean;
}

export interface EnlistAllRequest {
  agents: EnlistRequest[];
  limit: number;
}

/** Result of {@link enlistAllUpdate}, and detail of its refusal when nothing would change. */
export interface EnlistAllResult {
  /** Agents without room here. */
  refused: string[];
  /** Agents in this directory, without those that have left. */
  listed: number;
}

export type PublishRequest = Pick<Publication, 'id' | 'recipients' | 'digest'>;

export interface ClaimRequest {
  name: string;
  registration: Registration;
}

/** The home directory forwards it through the name's shards to the one that lists the agent. */
export interface LeaveNotice {
  name: string;
  epoch: number;
  /** The inbox is closed. */
  isForgotten: boolean;
}

export interface AgentsResult {
  agents: ListedAgent[];
  /** Messages for anyone. */
  offers: number;
  isSharded?: true;
}
