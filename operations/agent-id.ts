/**
 * The mailbox's IDs: short, since models write them again and again, and self-contained, so that any process can read
 * them. Not for Temporal's sandbox (Node's crypto).
 */
import { createHmac, randomBytes } from 'node:crypto';

/** Letters and digits without those that look like others: 5 bits each. */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789';
const ID_LETTERS = 8;

/**
 * An agent in one of its lives: `{name}.{epoch}.{tag}`. The tag, 40 bits of an HMAC, guards against slips and guesses; what an
 * agent may do is decided by its principal.
 */
export function agentIdOf(principal: string, name: string, epoch: number, secret: Buffer): string {
  const life = `${name}.${epoch.toString(36)}`;
  return `${life}.${letters(hmac(secret, 'agent', principal, life))}`;
}

/** Undefined for anything that {@link agentIdOf} didn't make for this principal. */
export function openAgentId(
  principal: string,
  agentId: string,
  secret: Buffer,
): { name: string; epoch: number } | undefined {
  const [, name, epoch] = /^([A-Za-z0-9._-]{1,64})\.([0-9a-z]{1,8})\.[a-z0-9]{8}$/.exec(agentId) ?? [];
  if (name === undefined || epoch === undefined) return undefined;
  const life = { name, epoch: parseInt(epoch, 36) };
  return agentIdOf(principal, name, life.epoch, secret) === agentId ? life : undefined;
}

/**
 * A message's ID says where it is: `{name}~{letters}` in the inbox of that name, `~{letters}` known to the directory.
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
  const bytes = key === undefined ? randomBytes(ID_LETTERS) : hmac(secret, 'message', principal, key);
  return `${recipient ?? ''}~${letters(bytes)}`;
}

/** The inbox that a message's ID names; an empty name for the directory, undefined for what is no message's ID. */
export function recipientOf(messageId: string): string | undefined {
  return /^([A-Za-z0-9._-]{0,64})~[a-z0-9]{8}$/.exec(messageId)?.[1];
}

/**
 * What the workflow IDs of a principal's mailbox begin with. No token does: `:` is in none. Servers with another secret or
 * task queue have another mailbox.
 */
export function mailboxPrefix(principal: string, taskQueue: string, secret: Buffer): string {
  return `mailbox:${letters(hmac(secret, 'mailbox', principal, taskQueue), 16)}:`;
}

function letters(bytes: Buffer, count = ID_LETTERS): string {
  return Array.from(bytes.subarray(0, count), (byte) => ALPHABET[byte % 32]).join('');
}

function hmac(secret: Buffer, ...parts: string[]): Buffer {
  return createHmac('sha256', secret).update(JSON.stringify(parts)).digest();
}
