/** IDs of agents, messages and workflows: short, because models repeat them, and self-contained, so any process can read them. */
import { createHmac, randomBytes } from 'node:crypto';

/** Digits, because models encode three of them as one token. Random letters take more. */
const TAG_DIGITS = 9;
const MESSAGE_DIGITS = 12;
const MAILBOX_DIGITS = 24;

/** ID of an agent's session: `{name}.{epoch}.{tag}`. The tag, some 30 bits of an HMAC, guards against mistakes and guesses only. */
export function agentIdOf(principal: string, name: string, epoch: number, secret: Buffer): string {
  const session = `${name}.${epoch}`;
  return `${session}.${digits(hmac(secret, 'agent', principal, session), TAG_DIGITS)}`;
}

/** Undefined unless {@link agentIdOf} made the ID for this principal. */
export function parseAgentId(
  principal: string,
  agentId: string,
  secret: Buffer,
): { name: string; epoch: number } | undefined {
  const [, name, epoch] = /^([A-Za-z0-9._-]{1,64})\.([0-9]{1,12})\.[0-9]{9}$/.exec(agentId) ?? [];
  if (name === undefined || epoch === undefined) return undefined;
  const session = { name, epoch: Number(epoch) };
  return agentIdOf(principal, name, session.epoch, secret) === agentId ? session : undefined;
}

/**
 * ID of a message: `{name}~{digits}` in the inbox of that name, `~{digits}` in the directory.
 *
 * @param recipient the only recipient, if there is one
 * @param key the same key gives the same ID. Default: a random ID
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

/** Name of the inbox in a message's ID. Empty for the directory, undefined for an invalid ID. */
export function recipientOf(messageId: string): string | undefined {
  return /^([A-Za-z0-9._-]{0,64})~[0-9]{12}$/.exec(messageId)?.[1];
}

/**
 * Prefix of the workflow IDs of a principal's mailbox. Operations can't have it: their tokens contain no `:`. Servers with another
 * secret or task queue have another mailbox.
 */
export function mailboxPrefix(principal: string, taskQueue: string, secret: Buffer): string {
  return `mailbox:${digits(hmac(secret, 'mailbox', principal, taskQueue), MAILBOX_DIGITS)}:`;
}

function digits(bytes: Buffer, count: number): string {
  return (BigInt(`0x${bytes.toString('hex')}`) % 10n ** BigInt(count)).toString().padStart(count, '0');
}

function hmac(secret: Buffer, ...parts: string[]): Buffer {
  return createHmac('sha256', secret).update(JSON.stringify(parts)).digest();
}
