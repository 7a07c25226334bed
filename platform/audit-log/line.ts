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

/** How a caller proved its identity. Identifies the credential but never holds it. */
export type AuditCredential =
  | { kind: 'key'; id: string }
  /** A token of an OAuth authorization server or a gateway. */
  | { kind: 'token'; issuer: string; client?: string }
  | { kind: 'certificate'; fingerprint: string };

/** One event, without the fields that the log adds. */
export interface AuditEntry {
  event: AuditEvent;
  principal?: string;
  credential?: AuditCredential;
  /** `http-jobs`, or MCP's revision. */
  protocol?: string;
  transport?: 'http' | 'stdio';
  /** The caller's IP address. */
  address?: string;
  /** Token of the operation. */
  operation?: string;
  /** For `operation.resume`: token of the new operation that continues it. */
  started?: string;
  tool?: string;
  artifact?: string;
  /**
   * `ok` or the error's kind. `attempted`, written first for actions that must not go unrecorded. For `authentication.refused`:
   * `no_credential`, `rate_limited`, `unavailable`, or an error code of RFC 6750.
   */
  outcome?: 'ok' | 'attempted' | 'no_credential' | ErrorKind | (string & {});
  /** Sequence of the `attempted` line for the same action. */
  attempt?: number;
  /** Number of further refusals like this one without a line. */
  suppressed?: number;
  /** For `log.gap`: the number of missing lines, and the times of the first and the last. */
  missing?: number;
  from?: string;
  to?: string;
  /** For `log.opened`: the process. */
  host?: string;
  pid?: number;
  version?: string;
}

export interface AuditLine extends AuditEntry {
  /** ISO 8601, UTC. */
  time: string;
  /** Position among the lines of its process, from 1. */
  sequence: number;
}

/** Undefined for text that isn't a complete line of an audit log. */
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
