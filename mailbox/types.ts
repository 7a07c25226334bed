/** The mailbox's public types: agents that wait for work inside a tool call, and the messages between them. */

export interface Registration {
  /** Unique within the principal: 1 to 64 letters, digits and `. _ -`. */
  name: string;
  /** E.g. `claude-code`: 1 to 64 printable characters. */
  type: string;
  /** Up to 16, of 1 to 64 printable characters each. */
  capabilities: string[];
  /** Name of the agent that may end this one's session. */
  parent?: string;
}

/** A registered agent. Each registration starts a new session. */
export interface RegisteredAgent {
  /** Short, self-contained and URL-safe: name, epoch, and a tag that only this home's servers can make. */
  agentId: string;
  /** Whether the name was already registered. If so, the earlier session's wait ends as `gone`, on any process. */
  isTakeover: boolean;
}

/** Selects agents that match all given fields. An empty selector matches every agent. */
export interface Selector {
  names?: string[];
  type?: string;
  capability?: string;
}

export type Recipients =
  /** These agents, registered or not. */
  | { names: string[] }
  /** Every agent that matches and isn't gone when you send. */
  | { all: Selector }
  /** The first free agent that matches. */
  | { anyone: Selector };

export interface OutgoingMessage {
  to: Recipients;
  /** 1 byte to 256 KiB of UTF-8. */
  content: string;
  /** Purpose of the message, e.g. `challenge`: 1 to 64 printable characters. */
  mode: string;
  /** Further JSON, up to 64 KiB of UTF-8. */
  context?: unknown;
  /** `agent_id` of the sender, or a display name if the sender isn't an agent. */
  from?: { agentId: string } | { name: string };
  /** Time to live, in seconds, 1 to 604,800: the message expires unless it is delivered by then. Default: 604,800 (7 days). */
  ttlSeconds?: number;
  /** Name of the agent that also receives the response, or the dead letter's notice, as a message. */
  replyTo?: string;
  /** Deliveries without an acknowledgement before it becomes a dead letter; 1 to 100. Default: 5. Released deliveries don't count. */
  maxDeliveries?: number;
  /** Identifies the message, with sender and recipients: a repeat sends nothing, other content is refused. Default: a new message. */
  idempotencyKey?: string;
}

export interface SendResult {
  /** Identifies the message in requests for its replies. */
  messageId: string;
  /** Agents with the message in their inbox. Empty for a message for anyone. */
  recipients: string[];
  /** Listed recipients that couldn't take it, and why. If none could, the send throws. */
  refused: { name: string; why: string }[];
}

export interface DeliveredMessage {
  messageId: string;
  /** Name of the sender, if given. */
  from?: string;
  mode: string;
  content: string;
  context?: unknown;
  /** ISO 8601. */
  sentAt: string;
  replyTo?: string;
  /** Set on a response: the message that it responds to. */
  responseTo?: string;
  /** Number of this delivery. Over 1 if an earlier one wasn't acknowledged. */
  delivery: number;
}

export type ReceiveResult =
  | {
      kind: 'message';
      message: DeliveredMessage;
      /** Sender and mode of the message acknowledged last in this session. */
      previous?: { from?: string; mode: string };
    }
  /** No message arrived in time. */
  | { kind: 'idle' }
  | { kind: 'aborted' }
  /** Another registration took over the name. */
  | { kind: 'gone' }
  /** The agent, its parent or a person ended the session. */
  | { kind: 'bye' };

export interface ReceiveOptions {
  /** Maximum wait, in milliseconds; 0 looks once. A function gets the milliseconds since the last message sent or received. */
  timeoutMs: number | ((quietMs: number) => number);
  /** Ends the wait at once. A message taken at the same moment is released. */
  signal: AbortSignal;
  /** ID of the message to acknowledge. A message without an acknowledgement is delivered again. */
  ack?: string;
  /** Lease on the received message, in seconds; 1 to 86,400. The message returns to the queue when it ends. Default: 900. */
  leaseSeconds?: number;
}

/**
 * `busy`: has a message. `waiting`: waits, or is between two waits. `away`: its last wait ended over 30 seconds ago. `gone`:
 * no heartbeat for 25 minutes, a bye, an expired lease.
 */
export type AgentState = 'waiting' | 'busy' | 'away' | 'gone';

export interface AgentStatus {
  name: string;
  type: string;
  capabilities: string[];
  parent?: string;
  state: AgentState;
  /** Messages waiting in its inbox, without the one that the agent has. */
  queued: number;
  /** Dead letters of its inbox, if any. */
  deadLetters?: number;
  /** ISO 8601: the last heartbeat, or for an away agent the end of its last wait. */
  lastSeenAt: string;
}

export interface StatusOptions {
  /** Only this agent's children. */
  parent?: string;
  /** `nextCursor` of the previous page. Default: the first page. */
  cursor?: string;
  /** Agents on the page, 1 to 500. Default: 100. */
  limit?: number;
}

export interface MailboxStatus {
  /** By name. */
  agents: AgentStatus[];
  /** Set if there are more agents. */
  nextCursor?: string;
  /** Messages for anyone that no agent has taken yet. */
  offers: number;
}

/** State of a message at one recipient. `unknown`: its outcome is past the retention of replies. */
export type MessageState =
  | 'offered'
  | 'queued'
  | 'delivered'
  | 'acknowledged'
  | 'answered'
  | 'expired'
  /** Delivered the maximum number of times without an acknowledgement. */
  | 'dead_lettered'
  /** A dead letter that was dropped. */
  | 'dropped'
  | 'unknown';

export interface MessageProgress {
  /** 1 to 1,000 bytes of UTF-8. */
  text: string;
  /** 0 to 1. */
  fraction?: number;
  /** ISO 8601. */
  at: string;
}

export interface Reply {
  /** Name of the recipient. Absent while a message for anyone is `offered`. */
  from?: string;
  state: MessageState;
  /** Set when `answered`. */
  response?: string;
  /** Number of deliveries; set when `dead_lettered`. */
  deliveries?: number;
  /** Latest report of the agent that has the message. Set when `delivered`. */
  progress?: MessageProgress;
  /** ISO 8601, when it changed to this state. */
  at?: string;
}

export interface RepliesOptions {
  /** Waits until any or all recipients have answered, or no longer can. Default: looks once. */
  wait?: 'any' | 'all';
  /** In milliseconds. Default: 0. */
  timeoutMs?: number;
  signal?: AbortSignal;
  /** Called during the wait with the current replies, first and after each change. */
  onChange?: (replies: Reply[]) => void;
}

/** A message that reached its maximum deliveries. */
export interface DeadLetter extends Omit<DeliveredMessage, 'delivery'> {
  inbox: string;
  deliveries: number;
  /** ISO 8601. */
  deadAt: string;
}

export interface DeadLetterRequest {
  messageId: string;
  action: 'resend' | 'drop';
  /** ID of the requesting agent: the inbox's owner, or the message's sender. Absent for a person. */
  by?: string;
}

/** A message in an inbox, read without taking it. */
export interface QueuedMessage extends Omit<DeliveredMessage, 'delivery'> {
  /** `delivered` while its agent has a lease on it. */
  state: 'queued' | 'delivered';
  /** Unacknowledged deliveries of a queued message, if any. */
  deliveries?: number;
}

export function matchesSelector({ name, type, capabilities }: Registration, selector: Selector): boolean {
  return (
    (selector.names === undefined || selector.names.includes(name)) &&
    (selector.type === undefined || selector.type === type) &&
    (selector.capability === undefined || capabilities.includes(selector.capability))
  );
}
