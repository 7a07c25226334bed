/**
 * The mailbox's IDs: short, since models write them again and again, and self-contained, so that any process can read
 * them. Not for Temporal's sandbox (Node's crypto).
 */
import { createHmac, randomBytes } from 'node:crypto';

/** Digits, since three of them are one token of a model's; random letters cost as they happen to fall. */
const TAG_DIGITS = 9;
const MESSAGE_DIGITS = 12;
const MAILBOX_DIGITS = 24;

/**
 * An agent in one of its lives: `{name}.{epoch}.{tag}`. The tag, some 30 bits of an HMAC, guards against slips and guesses; what
 * an agent may do is decided by its principal.
 */
export function agentIdOf(principal: string, name: string, epoch: number, secret: Buffer): string {
  const life = `${name}.${epoch}`;
  return `${life}.${digits(hmac(secret, 'agent', principal, life), TAG_DIGITS)}`;
}

/** Undefined for anything that {@link agentIdOf} didn't make for this principal. */
export function openAgentId(
  principal: string,
  agentId: string,
  secret: Buffer,
): { name: string; epoch: number } | undefined {
  const [, name, epoch] = /^([A-Za-z0-9._-]{1,64})\.([0-9]{1,12})\.[0-9]{9}$/.exec(agentId) ?? [];
  if (name === undefined || epoch === undefined) return undefined;
  const life = { name, epoch: Number(epoch) };
  return agentIdOf(principal, name, life.epoch, secret) === agentId ? life : undefined;
}

/**
 * A message's ID says where it is: `{name}~{digits}` in the inbox of that name, `~{digits}` known to the directory.
 *
 * @param recipient the one agent that it is for
 * @param key the same key gives the same ID
 */
export function messageIdOf(
  principal: string,
  recipient: string | undefined,
  secret: Buffer,
  key?: string,
): string {
  const bytes = key === undefined ? randomBytes(MESSAGE_DIGITS) : hmac(secret, 'message', principal, key);
  return `${recipient ?? ''}~${digits(bytes, MESSAGE_DIGITS)}`;
}

/** The inbox that a message's ID names; an empty name for the directory, undefined for what is no message's ID. */
export function recipientOf(messageId: string): string | undefined {
  return /^([A-Za-z0-9._-]{0,64})~[0-9]{12}$/.exec(messageId)?.[1];
}

/**
 * What the workflow IDs of a principal's mailbox begin with. No token does: `:` is in none. Servers with another secret or
 * task queue have another mailbox.
 */
export function mailboxPrefix(principal: string, taskQueue: string, secret: Buffer): string {
  return `mailbox:${digits(hmac(secret, 'mailbox', principal, taskQueue), MAILBOX_DIGITS)}:`;
}

/** The last ones of the bytes as a number. */
function digits(bytes: Buffer, count: number): string {
  return (BigInt(`0x${bytes.toString('hex')}`) % 10n ** BigInt(count)).toString().padStart(count, '0');
}

function hmac(secret: Buffer, ...parts: string[]): Buffer {
  return createHmac('sha256', secret).update(JSON.stringify(parts)).digest();
}
