/**
 * The mailbox: agents that wait for work inside a tool call, and what they send each other. Pure: names, limits, and the
 * shapes that the engine's verbs take and give.
 */
import { LonghaulError } from '../operations/errors.js';

/** Largest content of a message or a response, in bytes of its UTF-8: 256 KiB. */
export const CONTENT_LIMIT_BYTES = 256 * 1024;
/** Largest context of a message, in bytes of its JSON in UTF-8: 64 KiB. */
export const CONTEXT_LIMIT_BYTES = 64 * 1024;
/** Contents over this size go to storage, and history holds where they are, in bytes of JSON: 4 KiB. */
export const INLINE_LIMIT_BYTES = 4 * 1024;
/** The same for contexts and responses, of which more are kept: 1 KiB. */
export const SMALL_INLINE_LIMIT_BYTES = 1024;
/** Messages that wait in one inbox at most; the next sender is refused. */
export const INBOX_LIMIT = 100;
/** Messages for anyone that wait at most; the next sender is refused. */
export const OFFERS_LIMIT = 60;
/** Agents that one principal has at most. */
export const AGENTS_LIMIT = 1_000;
/** Agents that one message is sent to by name at most. */
export const RECIPIENTS_LIMIT = 100;
/** Agents on one page of the status: default, and most. */
export const STATUS_PAGE = 100;
export const STATUS_PAGE_LIMIT = 500;
/** Names among which anyone may take a message at most. */
export const CANDIDATES_LIMIT = 16;
export const CAPABILITIES_LIMIT = 16;

/** How long a message may wait at most, and does when its sender doesn't say, in seconds: 7 days. */
export const TTL_LIMIT_SECONDS = 7 * 24 * 3600;
/** How long an agent has a message before it goes back to the queue, in seconds: 15 minutes. */
export const LEASE_SECONDS = 15 * 60;
/** Shortest and longest lease that may be asked for, in seconds. */
export const LEASE_RANGE_SECONDS = [1, 24 * 3600] as const;
/** Deliveries of a message without an acknowledgement before it becomes a dead letter. */
export const MAX_DELIVERIES = 5;
/** Fewest and most deliveries that a sender may ask for. */
export const MAX_DELIVERIES_RANGE = [1, 100] as const;
/** Dead letters that one inbox keeps at most; the oldest is dropped first. */
export const DEAD_LETTERS_LIMIT = 100;
/** How long a dead letter is kept, in milliseconds: 7 days. */
export const DEAD_LETTERS_KEPT_MS = 7 * 24 * 3600_000;
/** Longest text of a progress report, in bytes of its UTF-8. */
export const REPORT_LIMIT_BYTES = 1_000;
/** Shortest time between two recorded progress reports on a message, in milliseconds; half the lease where that is less. */
export const REPORT_INTERVAL_MS = 10_000;
/** After this time between two waits an agent counts as away, in milliseconds: 30 seconds. */
export const AWAY_AFTER_MS = 30_000;
/** After this time without a sign an agent is gone, in milliseconds: 25 minutes. */
export const GONE_AFTER_MS = 25 * 60_000;
/** How old the last sign of a waiting agent gets before it is renewed, in milliseconds: 12 minutes. */
export const SIGN_INTERVAL_MS = 12 * 60_000;
/** How long replies can be read, in milliseconds: a day. */
export const REPLIES_KEPT_MS = 24 * 3600_000;

/** 1 to 64 letters, digits and `. _ -`, the first a letter or digit. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** 1 to 64 printable characters without blanks at the ends. */
const LABEL = /^(?! )[^\p{C}\p{Zl}\p{Zp}]{1,64}(?<! )$/u;

/** What an agent says of itself. */
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

/** A registered agent, in one of its lives: a registration that takes over begins another. */
export interface Registered {
  /** Self-contained, short, safe in URLs: name, epoch, and a tag that only this home's servers can make. */
  agentId: string;
  /** Was the name registered already? Then its earlier wait, wherever it is, ends as gone. */
  isTakeover: boolean;
}

/** Agents by what they are; fields that are given must all fit. An empty one fits every agent. */
export interface Selector {
  names?: string[];
  type?: string;
  capability?: string;
}

/** Whom a message is for. */
export type Recipients =
  /** These, whether or not they are there yet. */
  | { names: string[] }
  /** Every agent that fits and isn't gone, as of now. */
  | { all: Selector }
  /** One that fits: the first free one to take it. */
  | { anyone: Selector };

/** A message as its sender gives it. */
export interface OutgoingMessage {
  to: Recipients;
  /** Text; 1 byte to 256 KiB of UTF-8. */
  content: string;
  /** What is to be done with it, e.g. `challenge`: 1 to 64 printable characters. */
  mode: string;
  /** Anything more that is JSON, up to 64 KiB of UTF-8. */
  context?: unknown;
  /** `agent_id` of the sender, or a name to show for a sender that is no agent. */
  from?: { agentId: string } | { name: string };
  /** After this time nobody gets it any more, in seconds; 1 to 604,800. Default: 604,800 (7 days). */
  ttlSeconds?: number;
  /** Name of the agent that gets the response, or the news that there will be none, as a message, too. */
  replyTo?: string;
  /**
   * After so many deliveries without an acknowledgement the message becomes a dead letter; 1 to 100. Default: 5. A delivery
   * that was released doesn't count.
   */
  maxDeliveries?: number;
  /**
   * The same key with the same sender and recipients names the same message: a repeated send sends once, and one with
   * another content is refused. Default: a new message.
   */
  idempotencyKey?: string;
}

export interface Sent {
  /** What responses are asked for by. */
  messageId: string;
  /** Names of the agents in whose inbox it is; empty for a message that anyone may take. */
  recipients: string[];
  /** Those of a list who couldn't take it, each with why. When nobody could, the verb throws. */
  refused: { name: string; why: string }[];
}

/** A message as an agent gets it. */
export interface DeliveredMessage {
  messageId: string;
  /** Name of the sender; absent for one that gave none. */
  from?: string;
  mode: string;
  content: string;
  context?: unknown;
  /** ISO 8601. */
  sentAt: string;
  replyTo?: string;
  /** Set when this is a response: the message that it responds to. */
  responseTo?: string;
  /** Which time this is: over 1 when it was given before and not acknowledged. */
  delivery: number;
}

/** How a wait ended. */
export type Received =
  | {
      kind: 'message';
      message: DeliveredMessage;
      /** Sender and mode of the message acknowledged last in this life of the agent. */
      previous?: { from?: string; mode: string };
    }
  /** Nothing came in time. */
  | { kind: 'idle' }
  /** The signal fired. */
  | { kind: 'aborted' }
  /** Another registration took this name over. */
  | { kind: 'gone' }
  /** The agent, its parent or a person ended its waiting. */
  | { kind: 'bye' };

export interface ReceiveOptions {
  /**
   * How long to wait, in milliseconds; 0 looks once. A function gets how long ago the agent last sent or got something, in
   * milliseconds, and says so.
   */
  timeoutMs: number | ((quietMs: number) => number);
  /** Ends the wait at once; a message that was taken in the same moment goes back. */
  signal: AbortSignal;
  /** ID of the message that this call acknowledges. Without it, one that was given and not acknowledged comes again. */
  ack?: string;
  /** How long the agent has the message before it goes back to the queue, in seconds; 1 to 86,400. Default: 900. */
  leaseSeconds?: number;
}

/**
 * `busy`: has a message. `waiting`: waits, or is between two waits. `away`: its last wait ended over 30 seconds ago. `gone`:
 * no sign for 25 minutes, a bye, a lease that ended.
 */
export type AgentState = 'waiting' | 'busy' | 'away' | 'gone';

export interface AgentStatus {
  name: string;
  type: string;
  capabilities: string[];
  parent?: string;
  state: AgentState;
  /** Messages that wait in its inbox, the one that it has not counted. */
  queued: number;
  /** Dead letters of its inbox, if there are any. */
  deadLetters?: number;
  /** ISO 8601: its last sign of life. The end of a wait is one for an agent that is away. */
  lastSeenAt: string;
}

export interface StatusOptions {
  /** Only the children of this agent. */
  parent?: string;
  /** `nextCursor` of the page before. Default: the first page. */
  cursor?: string;
  /** Agents on the page, 1 to 500. Default: 100. */
  limit?: number;
}

export interface MailboxStatus {
  /** By name. */
  agents: AgentStatus[];
  /** Set when there are more agents. */
  nextCursor?: string;
  /** Messages for anyone that nobody has taken yet. */
  offers: number;
}

/** What has become of a message at one recipient. `unknown`: longer ago than replies are kept. */
export type MessageState =
  | 'offered'
  | 'queued'
  | 'delivered'
  | 'acknowledged'
  | 'answered'
  | 'expired'
  /** Delivered as often as it may be, and never acknowledged. */
  | 'dead_lettered'
  /** A dead letter that was dropped. */
  | 'dropped'
  | 'unknown';

/** A report of the agent that has a message. */
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
  /** When it is `answered`. */
  response?: string;
  /** When it is `dead_lettered`: how often it was delivered. */
  deliveries?: number;
  /** When it is `delivered`: the latest report of the agent that has it. */
  progress?: MessageProgress;
  /** ISO 8601; when it became that. */
  at?: string;
}

export interface RepliesOptions {
  /** Wait until one, or every, recipient has answered, or can't any more. Default: look once. */
  wait?: 'any' | 'all';
  /** In milliseconds. Default: 0. */
  timeoutMs?: number;
  signal?: AbortSignal;
  /** Called during the wait with what there is, at first and after each change. */
  onChange?: (replies: Reply[]) => void;
}

/** A message that nobody gets any more, because it was delivered as often as it may be. */
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
  /** ID of the agent that asks: the owner of the inbox, or the sender of the message. Without it, a person does. */
  by?: string;
}

/** A message that waits in an inbox, looked at without taking it. */
export interface QueuedMessage extends Omit<DeliveredMessage, 'delivery'> {
  state: 'queued' | 'delivered';
}

/** @throws LonghaulError `invalid_arguments` */
export function assertAgentName(name: unknown, where: string): asserts name is string {
  if (typeof name === 'string' && NAME.test(name)) return;
  throw invalid(where, '1 to 64 letters, digits and . _ -, the first a letter or digit', name);
}

/** @throws LonghaulError `invalid_arguments` */
export function assertLabel(label: unknown, where: string): asserts label is string {
  if (typeof label === 'string' && LABEL.test(label)) return;
  throw invalid(where, '1 to 64 printable characters', label);
}

/** @throws LonghaulError `invalid_arguments` */
export function assertRegistration({ name, type, capabilities, parent }: Registration): void {
  assertAgentName(name, 'agent_name');
  assertLabel(type, 'agent_type');
  if (!Array.isArray(capabilities) || capabilities.length > CAPABILITIES_LIMIT)
    throw invalid('capabilities', `a list of at most ${CAPABILITIES_LIMIT}`, capabilities);
  capabilities.forEach((one, index) => assertLabel(one, `capabilities[${index}]`));
  if (parent === undefined) return;
  assertAgentName(parent, 'parent');
  if (parent === name) throw invalid('parent', 'another agent than itself', parent);
}

/** @throws LonghaulError `invalid_arguments`, `too_large` */
export function assertMessage(message: OutgoingMessage): void {
  assertRecipients(message.to);
  assertLabel(message.mode, 'mode');
  assertContent(message.content, 'content');
  if (message.from && 'name' in message.from) assertAgentName(message.from.name, 'from');
  if (message.replyTo !== undefined) assertAgentName(message.replyTo, 'reply_to');
  const { ttlSeconds: ttl } = message;
  if (ttl !== undefined) assertWithin(ttl, [1, TTL_LIMIT_SECONDS], 'ttl_seconds');
  if (message.maxDeliveries !== undefined)
    assertWithin(message.maxDeliveries, MAX_DELIVERIES_RANGE, 'max_deliveries', Number.isInteger);
  const contextBytes = message.context === undefined ? 0 : jsonBytes(message.context);
  if (contextBytes > CONTEXT_LIMIT_BYTES) throw tooLarge('context', CONTEXT_LIMIT_BYTES, contextBytes);
}

/** @throws LonghaulError `invalid_arguments`, `too_large` */
export function assertContent(content: unknown, where: string): asserts content is string {
  assertText(content, where, CONTENT_LIMIT_BYTES);
}

/** @throws LonghaulError `invalid_arguments`, `too_large` */
export function assertReport({ text, fraction }: Pick<MessageProgress, 'text' | 'fraction'>): void {
  assertText(text, 'text', REPORT_LIMIT_BYTES);
  if (fraction !== undefined) assertWithin(fraction, [0, 1], 'fraction');
}

/** @throws LonghaulError `invalid_arguments` */
export function assertStatusOptions({ parent, cursor, limit }: StatusOptions): void {
  if (parent !== undefined) assertAgentName(parent, 'parent');
  if (cursor !== undefined && !NAME.test(cursor))
    throw invalid('cursor', 'the next_cursor of a page before', cursor);
  if (limit !== undefined) assertWithin(limit, [1, STATUS_PAGE_LIMIT], 'limit', Number.isInteger);
}

function assertText(text: unknown, where: string, limitBytes: number): asserts text is string {
  if (typeof text !== 'string' || text === '') throw invalid(where, 'a text that is not empty', text);
  const bytes = utf8Bytes(text);
  if (bytes > limitBytes) throw tooLarge(where, limitBytes, bytes);
}

function assertWithin(
  value: number,
  [least, most]: readonly [number, number],
  where: string,
  isFine: (value: number) => boolean = Number.isFinite,
): void {
  if (isFine(value) && value >= least && value <= most) return;
  throw invalid(
    where,
    `${isFine === Number.isInteger ? 'a whole number from ' : ''}${least} to ${most}`,
    value,
  );
}

/** @throws LonghaulError `invalid_arguments` */
export function assertLease(seconds: number): void {
  assertWithin(seconds, LEASE_RANGE_SECONDS, 'lease_seconds');
}

function assertRecipients(to: Recipients): void {
  if ('names' in to) {
    assertNames(to.names, 'to');
    return;
  }
  const selector = 'all' in to ? to.all : to.anyone;
  const limit = 'all' in to ? RECIPIENTS_LIMIT : CANDIDATES_LIMIT;
  if (selector.names !== undefined) assertNames(selector.names, 'to.names', limit);
  if (selector.type !== undefined) assertLabel(selector.type, 'to.type');
  if (selector.capability !== undefined) assertLabel(selector.capability, 'to.capability');
}

function assertNames(names: unknown, where: string, limit = RECIPIENTS_LIMIT): void {
  if (!Array.isArray(names) || names.length === 0 || names.length > limit)
    throw invalid(where, `1 to ${limit} names`, names);
  names.forEach((name, index) => assertAgentName(name, names.length === 1 ? where : `${where}[${index}]`));
}

/** Does the agent fit the selector? */
export function fits({ name, type, capabilities }: Registration, selector: Selector): boolean {
  return (
    (selector.names === undefined || selector.names.includes(name)) &&
    (selector.type === undefined || selector.type === type) &&
    (selector.capability === undefined || capabilities.includes(selector.capability))
  );
}

/** Size of a value as JSON, in bytes of UTF-8. */
export function jsonBytes(value: unknown): number {
  return utf8Bytes(JSON.stringify(value) ?? '');
}

/** Size of a text in UTF-8, in bytes. Also for Temporal's sandbox, which has no Buffer. */
export function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.codePointAt(index)!;
    if (code > 0xffff) {
      // A surrogate pair: four bytes.
      bytes += 2;
      index += 1;
    } else if (code > 0x7f) bytes += code > 0x7ff ? 2 : 1;
  }
  return bytes;
}

function invalid(where: string, expected: string, got: unknown): LonghaulError {
  const shown = JSON.stringify(got) ?? 'nothing';
  return new LonghaulError('invalid_arguments', `${where}: expected ${expected}; got ${shown.slice(0, 100)}`);
}

function tooLarge(where: string, limitBytes: number, bytes: number): LonghaulError {
  return new LonghaulError('too_large', `${where}: expected at most ${limitBytes} bytes; got ${bytes}`);
}
