/** Lines of the audit log: JSON objects. */
import type { ErrorKind } from '../../operations/errors.js';

/** Actions of callers, and events of the log itself. */
type AuditEvent =
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
  /** For `log.opened`: the process. */
  host?: string;
  pid?: number;
  version?: string;
}

/** A line as it is read. */
export interface AuditLine extends AuditEntry {
  /** ISO 8601, UTC. */
  time: string;
  /** Position among the lines of its process, from 1. */
  sequence: number;
}

/** Undefined for text that is no line of an audit log, such as one that was not written whole. */
export function parseLine(text: string): AuditLine | undefined {
  try {
    const line = JSON.parse(text) as AuditLine | null;
    const isLine =
      typeof line?.sequence === 'number' && typeof line.time === 'string' && typeof line.event === 'string';
    return isLine ? line : undefined;
  } catch {
    return undefined;
  }
}
