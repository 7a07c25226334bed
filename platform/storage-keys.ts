/** What lies where in storage. */
import { encodeFileName, decodeFileName } from './file-name.js';

/** What begins the keys that belong to one operation each: the next part of such a key is its workflow's ID. */
export const OPERATION_PREFIXES = ['artifacts/', 'logs/', 'payloads/'] as const;
const [ARTIFACTS, LOGS, PAYLOADS] = OPERATION_PREFIXES;

/** What begins the keys of the mailbox's texts. */
export const MAILBOX_PREFIX = 'mailbox/';

/** Key of an operation's artifact. */
export function artifactKey(workflowId: string, name: string): string {
  return artifactPrefix(workflowId) + encodeFileName(name);
}

/** What begins the keys of an operation's artifacts. */
export function artifactPrefix(workflowId: string): string {
  return `${ARTIFACTS}${encodeFileName(workflowId)}/`;
}

/** The name of an artifact in its key; undefined for one so long that the key holds only a part. */
export function artifactNameIn(key: string): string | undefined {
  const origin = decodeFileName(key.slice(key.lastIndexOf('/') + 1));
  return origin && 'text' in origin ? origin.text : undefined;
}

/** Key of a step's log. Steps are counted from 1. */
export function logKey(workflowId: string, child: string, step: number): string {
  return `${LOGS}${encodeFileName(workflowId)}/${encodeFileName(child)}/${step}`;
}

/** Prefix of an operation's own log. No child has this name: {@link encodeFileName} encodes `@`. */
export function operationLogPrefix(workflowId: string): string {
  return `${LOGS}${encodeFileName(workflowId)}/@operation/`;
}

/** Key of a value that is too large for history, by the workflow that it belongs to, if that is known. */
export function payloadKey(workflowId: string | undefined, hash: string): string {
  return workflowId === undefined ? `${PAYLOADS}${hash}` : `${PAYLOADS}${encodeFileName(workflowId)}/${hash}`;
}

/** What begins the keys of one operation. */
export function prefixesOf(workflowId: string): string[] {
  return prefixesOfName(encodeFileName(workflowId));
}

/** What begins the keys of one operation, by its name in them. */
export function prefixesOfName(name: string): string[] {
  return OPERATION_PREFIXES.map((prefix) => `${prefix}${name}/`);
}

/** The name of an operation's workflow in a key that begins with one of {@link OPERATION_PREFIXES}; undefined where the key holds none. */
export function operationNameIn(key: string): string | undefined {
  const [, name, rest] = key.split('/');
  return rest === undefined ? undefined : name;
}

/** Key of a text of the mailbox that is too large for history. */
export function mailboxKey(mailbox: string, id: string, part: 'content' | 'context' | 'response'): string {
  return `${MAILBOX_PREFIX}${encodeFileName(mailbox)}/${encodeFileName(id)}/${part}`;
}
