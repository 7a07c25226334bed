/** Layout of keys in storage. */
import { encodeFileName, decodeFileName } from '../home/file-name.js';

/** Key prefixes of one operation's data. The workflow ID is the next part of such a key. */
export const OPERATION_PREFIXES = ['artifacts/', 'logs/', 'payloads/'] as const;
const [ARTIFACTS, LOGS, PAYLOADS] = OPERATION_PREFIXES;

export const MAILBOX_PREFIX = 'mailbox/';

export function artifactKey(workflowId: string, name: string): string {
  return artifactPrefix(workflowId) + encodeFileName(name);
}

export function artifactPrefix(workflowId: string): string {
  return `${ARTIFACTS}${encodeFileName(workflowId)}/`;
}

/** Name of an artifact, decoded from its key; undefined for a long name that the key truncates. */
export function artifactNameIn(key: string): string | undefined {
  const origin = decodeFileName(key.slice(key.lastIndexOf('/') + 1));
  return origin && 'text' in origin ? origin.text : undefined;
}

/** Key prefix of a step's `ChunkedLog`. @param step from 1 */
export function stepLogPrefix(workflowId: string, child: string, step: number): string {
  return `${LOGS}${encodeFileName(workflowId)}/${encodeFileName(child)}/${step}/`;
}

/** Key prefix of an operation's own log. Can't collide with a child's name, because {@link encodeFileName} encodes `@`. */
export function operationLogPrefix(workflowId: string): string {
  return `${LOGS}${encodeFileName(workflowId)}/@operation/`;
}

/** Key of what the watchdog found about an activity. It is in the logs' prefix to be removed with them. */
export function blockedActivityKey(workflowId: string, runId: string, activityId: string): string {
  return `${LOGS}${encodeFileName(workflowId)}/@blocked/${encodeFileName(`${runId}/${activityId}`)}`;
}

/** Key prefix of evaluations of workflow code that ended their thread or worker. Workers remove old ones. */
export const FATAL_PREFIX = 'fatal-evaluations/';

/** Key prefix of such evaluations of one run's code. @param code digest of the code; default: any */
export function fatalPrefix({ runId, code }: { runId: string; code?: string }): string {
  return `${FATAL_PREFIX}${runId}/${code === undefined ? '' : `${code}/`}`;
}

/** Key of a value that is too large for history, under its workflow if known. */
export function payloadKey(workflowId: string | undefined, hash: string): string {
  return workflowId === undefined ? `${PAYLOADS}${hash}` : `${PAYLOADS}${encodeFileName(workflowId)}/${hash}`;
}

export function prefixesOf(workflowId: string): string[] {
  return prefixesOfName(encodeFileName(workflowId));
}

/** @param name the encoded workflow ID */
export function prefixesOfName(name: string): string[] {
  return OPERATION_PREFIXES.map((prefix) => `${prefix}${name}/`);
}

/** Encoded workflow ID in a key that begins with one of {@link OPERATION_PREFIXES}; undefined if the key has none. */
export function operationNameIn(key: string): string | undefined {
  const [, name, rest] = key.split('/');
  return rest === undefined ? undefined : name;
}

/** Key of a mailbox text that is too large for history. */
export function mailboxKey(mailbox: string, id: string, part: 'content' | 'context' | 'response'): string {
  return `${MAILBOX_PREFIX}${encodeFileName(mailbox)}/${encodeFileName(id)}/${part}`;
}
