/** What lies where in storage. */
import { createHash } from 'node:crypto';

/** What begins the keys that belong to one operation each: the next part of such a key is its workflow's ID. */
export const OPERATION_PREFIXES = ['artifacts/', 'logs/', 'payloads/'] as const;
const [ARTIFACTS, LOGS, PAYLOADS] = OPERATION_PREFIXES;

/** What begins the keys of the mailbox's texts. */
export const MAILBOX_PREFIX = 'mailbox/';

/** Key of an operation's artifact. */
export function artifactKey(workflowId: string, name: string): string {
  return `${ARTIFACTS}${segment(workflowId)}/${segment(name)}`;
}

/** Key of a step's log. Steps are counted from 1. */
export function logKey(workflowId: string, child: string, step: number): string {
  return `${LOGS}${segment(workflowId)}/${segment(child)}/${step}`;
}

/** Key of a value that is too large for history, by the workflow that it belongs to, if that is known. */
export function payloadKey(workflowId: string | undefined, hash: string): string {
  return workflowId === undefined ? `${PAYLOADS}${hash}` : `${PAYLOADS}${segment(workflowId)}/${hash}`;
}

/** What begins the keys of one operation. */
export function prefixesOf(workflowId: string): string[] {
  return OPERATION_PREFIXES.map((prefix) => `${prefix}${segment(workflowId)}/`);
}

/** The workflow ID in a key that begins with one of {@link OPERATION_PREFIXES}; undefined where the key holds only a hash of it. */
export function workflowIdIn(key: string): string | undefined {
  const [, name, rest] = key.split('/');
  return name && rest !== undefined && !HASHED.test(name) ? decodeURIComponent(name) : undefined;
}

/** Key of a text of the mailbox that is too large for history. */
export function mailboxKey(mailbox: string, id: string, part: 'content' | 'context' | 'response'): string {
  return `${MAILBOX_PREFIX}${segment(mailbox)}/${segment(id)}/${part}`;
}

/** Longest part of a key that is kept as it is, in bytes: a file's name has at most 255. */
const MAX_SEGMENT_BYTES = 200;
const HASHED = /^.{100}~[0-9a-f]{32}$/;

/** A name as one part of a key; of a long one, its beginning and its hash. */
function segment(name: string): string {
  const encoded = encodeURIComponent(name);
  if (encoded.length <= MAX_SEGMENT_BYTES) return encoded;
  return `${encoded.slice(0, 100)}~${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;
}
