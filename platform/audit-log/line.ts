/**
 * Lines of the audit log: JSON objects, each with the hash of the line before it. The hash is over the text of the line as it
 * stands in the file, so it can be checked by any program that knows SHA-256.
 */
import { createHash, createHmac } from 'node:crypto';
import type { ErrorKind } from '../../operations/errors.js';

/** Actions of callers, and events of the log itself. */
export type AuditEvent =
  | 'operation.start'
  | 'operation.read'
  | 'operation.result'
  | 'operation.events'
  | 'operation.logs'
  | 'operation.artifacts'
  | 'operation.artifact'
  | 'operation.answer'
  | 'operation.cancel'
  | 'operation.resume'
  | 'operation.delete'
  | 'operations.list'
  | 'tool.refused'
  | 'authentication.refused'
  | 'log.opened'
  | 'log.rotated'
  | 'log.continued'
  | 'log.gap'
  | 'log.closed';

/** How a caller has proved who it is. Identifies the credential; never holds it. */
export type AuditCredential =
  | { kind: 'key'; id: string }
  /** A token of an OAuth authorization server, or of a gateway. */
  | { kind: 'token'; issuer: string; client?: string }
  /** A client certificate. */
  | { kind: 'certificate'; fingerprint: string };

/** One event, without the fields that the log adds. */
export interface AuditEntry {
  event: AuditEvent;
  principal?: string;
  credential?: AuditCredential;
  /** `http-jobs`, or MCP's revision. */
  protocol?: string;
  transport?: 'http' | 'stdio';
  /** IP address of the caller. */
  address?: string;
  /** Token of the operation. */
  operation?: string;
  /** For `operation.resume`: token of the operation that continues it. */
  started?: string;
  tool?: string;
  /** Name of the artifact. */
  artifact?: string;
  /**
   * `ok`, or the kind of the error. `attempted`, before the action is done, where none may be done unrecorded. For
   * `authentication.refused`: `no_credential`, `rate_limited`, `unavailable`, or an error code of RFC 6750.
   */
  outcome?: 'ok' | 'attempted' | 'no_credential' | ErrorKind | (string & {});
  /** Sequence of the line with `attempted` for the same action. */
  attempt?: number;
  /** How many further refusals like this one have no line of their own. */
  suppressed?: number;
  /** For `log.gap`: how many lines are missing, and the times of the first and the last. */
  missing?: number;
  from?: string;
  to?: string;
  /** For `log.opened` and `log.continued`: the process and its chain. */
  chain?: string;
  part?: number;
  host?: string;
  pid?: number;
  version?: string;
  /** For `log.opened`: heads of the chains in the folder that no other chain refers to. */
  follows?: FollowedHead[];
}

/** A line of a chain. */
export interface ChainHead {
  chain: string;
  sequence: number;
  hash: string;
}

/** Head of a chain when another one began. */
export interface FollowedHead extends ChainHead {
  time: string;
}

/** A line as it is read. */
export interface AuditLine extends AuditEntry {
  /** ISO 8601, UTC. */
  time: string;
  /** Position in the chain, from 1. */
  sequence: number;
  /** Hash of the line before it in the chain. */
  previous: string;
  /** SHA-256 of the line's text without `hash` and `mac`. */
  hash: string;
  /** HMAC of the hash, with a key that the home's secret gives. */
  mac: string;
}

/** `previous` of the first line of a chain. */
export const NO_PREVIOUS = '0'.repeat(64);

/** The end of each line: the text before it, closed with `}`, is what is hashed. */
const TAIL = /,"hash":"([0-9a-f]{64})","mac":"([0-9a-f]{64})"\}$/;

/** The key of the MACs. @param secret of the home */
export function auditKeyOf(secret: Buffer): Buffer {
  return createHmac('sha256', secret).update('longhaul audit log').digest();
}

/** The text of a line, without its line break, and its hash. */
export function formatLine(
  { event, ...entry }: AuditEntry,
  position: { time: string; sequence: number; previous: string },
  key: Buffer,
): { text: string; hash: string } {
  const { time, sequence, previous } = position;
  const body = JSON.stringify({ time, sequence, event, ...entry, previous });
  const hash = hashOf(body);
  return { text: `${body.slice(0, -1)},"hash":"${hash}","mac":"${macOf(hash, key)}"}`, hash };
}

/** Undefined for text that is no line of an audit log. `computed` is the hash that the text should have. */
export function parseLine(text: string): { line: AuditLine; computed: string } | undefined {
  const tail = TAIL.exec(text);
  if (!tail) return undefined;
  try {
    const line = JSON.parse(text) as AuditLine;
    const isLine =
      typeof line.sequence === 'number' && typeof line.time === 'string' && typeof line.event === 'string';
    return isLine ? { line, computed: hashOf(`${text.slice(0, tail.index)}}`) } : undefined;
  } catch {
    return undefined;
  }
}

/** The MAC that a line with this hash should have. */
export function macOf(hash: string, key: Buffer): string {
  return createHmac('sha256', key).update(hash).digest('hex');
}

function hashOf(body: string): string {
  return createHash('sha256').update(body).digest('hex');
}
