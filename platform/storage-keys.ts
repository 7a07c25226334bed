/** Layout of keys in storage. */
import { encodeFileName, decodeFileName } from './file-name.js';

/** Key prefixes of data that belongs to one operation; the workflow ID is the next part of such a key. */
export const OPERATION_PREFIXES = ['artifacts/', 'logs/', 'payloads/'] as const;
const [ARTIFACTS, LOGS, PAYLOADS] = OPERATION_PREFIXES;

/** Key prefix of the mailbox's texts. */
export const MAILBOX_PREFIX = 'mailbox/';

/** Key of an operation's artifact. */
export function artifactKey(workflowId: string, name: string): string {
  return artifactPrefix(workflowId) + encodeFileName(name);
}

/** Key prefix of an operation's artifacts. */
export function artifactPrefix(workflowId: string): string {
  return `${ARTIFACTS}${encodeFileName(workflowId)}/`;
}

/** Name of an artifact, decoded from its key; undefined for a name so long that the key holds only a part. */
export function artifactNameIn(key: string): string | undefined {
  const origin = decodeFileName(key.slice(key.lastIndexOf('/') + 1));
  return origin && 'text' in origin ? origin.text : undefined;
}

/** Key prefix of a step's log, which is a `ChunkedLog`. @param step from 1 */
export function stepLogPrefix(workflowId: string, child: string, step: number): string {
  return `${LOGS}${encodeFileName(workflowId)}/${encodeFileName(child)}/${step}/`;
}

/** Key prefix of an operation's own log. Can't collide with a child's name: {@link encodeFileName} encodes `@`. */
export function operationLogPrefix(workflowId: string): string {
  return `${LOGS}${encodeFileName(workflowId)}/@operation/`;
}

/** Key of a value that is too large for history, under its workflow if known. */
export function payloadKey(workflowId: string | undefined, hash: string): string {
  return workflowId === undefined ? `${PAYLOADS}${hash}` : `${PAYLOADS}${encodeFileName(workflowId)}/${hash}`;
}

/** Key prefixes of one operation's data. */
export function prefixesOf(workflowId: string): string[] {
  return prefixesOfName(encodeFileName(workflowId));
}

/** Key prefixes of one operation's data. @param name its encoded workflow ID */
export function prefixesOfName(name: string): string[] {
  return OPERATION_PREFIXES.map((prefix) => `${prefix}${name}/`);
}

/** Encoded workflow ID in a key that begins with one of {@link OPERATION_PREFIXES}; undefined where the key holds none. */
export function operationNameIn(key: string): string | undefined {
  const [, name, rest] = key.split('/');
  return rest === undefined ? undefined : name;
}

/** Key of a text of the mailbox that is too large for history. */
export function mailboxKey(mailbox: string, id: string, part: 'content' | 'context' | 'response'): string {
  return `${MAILBOX_PREFIX}${encodeFileName(mailbox)}/${encodeFileName(id)}/${part}`;
}
