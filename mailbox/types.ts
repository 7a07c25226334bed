/** Types of the mailbox's public interface: agents that wait for work inside a tool call, and the messages between them. */

/** Properties of an agent, as it registers. */
export interface Registration {
  /** Unique within the principal: 1 to 64 letters, digits and `. _ -`. */
  name: string;
  /** E.g. `claude-code`: 1 to 64 printable characters. */
  type: string;
  /** Up to 16, of 1 to 64 printable characters each. */
  capabilities: string[];
  /** Name of the agent that may end this one's waiting. */
  parent?: string;
}

/** A registered agent. Each registration starts a session of its own. */
export interface RegisteredAgent {
  /** Self-contained, short, safe in URLs: name, epoch, and a tag that only this home's servers can make. */
  agentId: string;
  /** Whether the name was registered already. If so, the wait of the earlier session ends as `gone`, on any process. */
  isTakeover: boolean;
}

/** Selects agents by their properties; all fields that are given must match. An empty selector matches every agent. */
export interface Selector {
  names?: string[];
  type?: string;
  capability?: string;
}

/** Recipients of a message. */
export type Recipients =
  /** These agents, registered or not. */
  | { names: string[] }
  /** Every agent that matches and isn't gone at the time of the send. */
  | { all: Selector }
  /** The first free agent that matches. */
  | { anyone: Selector };

/** A message as its sender gives it. */
export interface OutgoingMessage {
  to: Recipients;
  /** Text; 1 byte to 256 KiB of UTF-8. */
  content: string;
  /** Purpose of the message, e.g. `challenge`: 1 to 64 printable characters. */
  mode: string;
  /** Further JSON, up to 64 KiB of UTF-8. */
  context?: unknown;
  /** `agent_id` of the sender, or a display name for a sender that is no agent. */
  from?: { agentId: string } | { name: string };
  /** Time to live, in seconds: the message expires unless it is delivered by then; 1 to 604,800. Default: 604,800 (7 days). */
  ttlSeconds?: number;
  /** Name of the agent that also receives the response, or the notice of a dead letter, as a message. */
  replyTo?: string;
  /**
   * Deliveries without an acknowledgement before the message becomes a dead letter; 1 to 100. Default: 5. A delivery that was
   * released doesn't count.
   */
  maxDeliveries?: number;
  /**
   * The same key with the same sender and recipients names the same message: a repeated send sends once, and one with
   * another content is refused. Default: a new message.
   */
  idempotencyKey?: string;
}

export interface SendResult {
  /** Identifies the message in requests for its replies. */
  messageId: string;
  /** Names of the agents in whose inbox it is; empty for a message for anyone. */
  recipients: string[];
  /** Recipients of a list that couldn't take it, each with the reason. If no recipient could, the send throws. */
  refused: { name: string; why: string }[];
}

/** A message as an agent receives it. */
export interface DeliveredMessage {
  messageId: string;
  /** Name of the sender; absent if it gave none. */
  from?: string;
  mode: string;
  content: string;
  context?: unknown;
  /** ISO 8601. */
  sentAt: string;
  replyTo?: string;
  /** Set on a response: the message that it responds to. */
  responseTo?: string;
  /** Number of this delivery: over 1 if the message was delivered before and not acknowledged. */
  delivery: number;
}

/** Outcome of a wait. */
export type ReceiveResult =
  | {
      kind: 'message';
      message: DeliveredMessage;
      /** Sender and mode of the message acknowledged last in this session. */
      previous?: { from?: string; mode: string };
    }
  /** No message in time. */
  | { kind: 'idle' }
  /** The signal fired. */
  | { kind: 'aborted' }
  /** Another registration took over the name. */
  | { kind: 'gone' }
  /** The agent, its parent or a person ended the session. */
  | { kind: 'bye' };

export interface ReceiveOptions {
  /**
   * Maximum wait, in milliseconds; 0 looks once. A function gets the time since the agent last sent or received a message, in
   * milliseconds, and returns the wait.
   */
  timeoutMs: number | ((quietMs: number) => number);
  /** Ends the wait at once; a message that was taken in the same moment is released. */
  signal: AbortSignal;
  /** ID of the message that this call acknowledges. A delivered message that isn't acknowledged is delivered again. */
  ack?: string;
  /** Lease on the received message: it returns to the queue after this time, in seconds; 1 to 86,400. Default: 900. */
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
  /** Messages that wait in its inbox, without the one that the agent has. */
  queued: number;
  /** Dead letters of its inbox, if there are any. */
  deadLetters?: number;
  /** ISO 8601: its last heartbeat; for an agent that is away, the end of its last wait. */
  lastSeenAt: string;
}

export interface StatusOptions {
  /** Only the children of this agent. */
  parent?: string;
  /** `nextCursor` of the previous page. Default: the first page. */
  cursor?: string;
  /** Agents on the page, 1 to 500. Default: 100. */
  limit?: number;
}

export interface MailboxStatus {
  /** By name. */
  agents: AgentStatus[];
  /** Set when there are more agents. */
  nextCursor?: string;
  /** Number of messages for anyone that no agent has taken yet. */
  offers: number;
}

/** State of a message at one recipient. `unknown`: its outcome is older than the retention of replies. */
export type MessageState =
  | 'offered'
  | 'queued'
  | 'delivered'
  | 'acknowledged'
  | 'answered'
  | 'expired'
  /** Delivered the maximum number of times, and never acknowledged. */
  | 'dead_lettered'
  /** A dead letter that was dropped. */
  | 'dropped'
  | 'unknown';

/** A progress report of the agent that has a message. */
export interface MessageProgress {
  /** 1 to 1,000 bytes of UTF-8. */
  text: string;
  /** 0 to 1. */
  fraction?: number;
  /** ISO 8601. */
  at: string;
}

export interface Reply {
  /** Name of the recipient; absent while a message for anyone is `offered`. */
  from?: string;
  state: MessageState;
  /** Set when `answered`. */
  response?: string;
  /** Number of deliveries; set when `dead_lettered`. */
  deliveries?: number;
  /** Latest report of the agent that has the message; set when `delivered`. */
  progress?: MessageProgress;
  /** ISO 8601; time of the change to this state. */
  at?: string;
}

export interface RepliesOptions {
  /** Wait until one, or every, recipient has answered, or can't any more. Default: look once. */
  wait?: 'any' | 'all';
  /** In milliseconds. Default: 0. */
  timeoutMs?: number;
  signal?: AbortSignal;
  /** Called during the wait with the current replies, at first and after each change. */
  onChange?: (replies: Reply[]) => void;
}

/** A message that is no longer delivered, because it was delivered the maximum number of times. */
export interface DeadLetter extends Omit<DeliveredMessage, 'delivery'> {
  /** Name of the agent in whose inbox it is. */
  inbox: string;
  deliveries: number;
  /** ISO 8601. */
  deadAt: string;
}

/** Resends or drops a dead letter. */
export interface DeadLetterRequest {
  messageId: string;
  action: 'resend' | 'drop';
  /** ID of the requesting agent: the owner of the inbox, or the sender of the message. Absent in requests of a person. */
  by?: string;
}

/** A message in an inbox, as seen without taking it. */
export interface QueuedMessage extends Omit<DeliveredMessage, 'delivery'> {
  /** `delivered` while its agent has a lease on it. */
  state: 'queued' | 'delivered';
  /** Deliveries that were not acknowledged; set on a queued message that had any. */
  deliveries?: number;
}

/** Whether the agent has every property that the selector names. */
export function matchesSelector({ name, type, capabilities }: Registration, selector: Selector): boolean {
  return (
    (selector.names === undefined || selector.names.includes(name)) &&
    (selector.type === undefined || selector.type === type) &&
    (selector.capability === undefined || capabilities.includes(selector.capability))
  );
}
