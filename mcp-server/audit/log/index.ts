/** The audit log: who did what. Lines outlive the process once `append` returns, and reach the disk within {@link SYNC_MS}. */
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import type { ErrorKind } from '../../../operations/errors.js';
import { isDiskFullError } from '../../../platform/home/disk.js';
import { SettingsError } from '../../../platform/settings/index.js';
import type { Logger } from '../../../platform/observe/log.js';
import { longhaulPackage } from '../../../platform/home/package.js';
import { auditFilePath, AuditSink, newFilesName } from './files.js';

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

/** A power failure loses at most the lines of this period. */
const SYNC_MS = 100;
const RETRY_MS = 1_000;
/** Interval for logging a failure while it lasts. */
const REPORT_MS = 60_000;
/** The log continues in another file from this size on, and at the end of each day (UTC). */
const LARGEST_FILE_BYTES = 64 * 1024 * 1024;
/** Lines that wait for room on the disk. The log counts and drops further ones. */
const MOST_PENDING_BYTES = 1024 * 1024;

export interface AuditLogLimits {
  largestFileBytes: number;
  mostPendingBytes: number;
}

interface Gap {
  missing: number;
  from: string;
  to: string;
}

export class AuditLog {
  readonly #name = newFilesName(Date.now(), process.pid);
  #sink: AuditSink | undefined;
  #part = 0;
  #day = '';
  #sequence = 0;
  /** Text that isn't in the file yet. It begins inside a line after a partial write. */
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #isPartial = false;
  #gap: Gap | undefined;
  #failedAtMs: number | undefined;
  #reportedAtMs = -Infinity;
  #syncTimer: NodeJS.Timeout | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** Begins a log, and creates its folder. @throws SettingsError when the folder can't be written, except for a full disk */
  constructor(
    private readonly folder: string,
    private readonly logger: Logger,
    private readonly limits: AuditLogLimits = {
      largestFileBytes: LARGEST_FILE_BYTES,
      mostPendingBytes: MOST_PENDING_BYTES,
    },
  ) {
    try {
      makeFolder(folder);
      accessSync(folder, constants.W_OK | constants.X_OK);
    } catch (error) {
      if (!isDiskFullError(error))
        throw new SettingsError(
          `audit log ${folder}: expected a folder that can be written; got ${(error as Error).message}`,
          { cause: error },
        );
    }
    const { version } = longhaulPackage();
    this.append({ event: 'log.opened', host: hostname(), pid: process.pid, version });
  }

  /** Whether everything so far is in the file. Tries again if not. */
  get isWritten(): boolean {
    this.#drain();
    return this.#failedAtMs === undefined;
  }

  /** Appends a line, and never throws: after a failure, a `log.gap` line follows. @returns its sequence; undefined if dropped */
  append(entry: AuditEntry): number | undefined {
    if (this.#isClosed) return undefined;
    const time = new Date().toISOString();
    if (this.#failedAtMs !== undefined) this.#drain();
    this.#rotate(time);
    if (this.#pendingBytes >= this.limits.mostPendingBytes) {
      this.#gap = { missing: (this.#gap?.missing ?? 0) + 1, from: this.#gap?.from ?? time, to: time };
      return undefined;
    }
    this.#addGap(time);
    const sequence = this.#add(time, entry);
    this.#drain();
    return sequence;
  }

  /** Resolves once everything so far is on the disk. @throws a file system error if it can't be */
  async synced(): Promise<void> {
    if (!this.isWritten || !this.#sink) throw new Error('the audit log cannot be written');
    await this.#sync(this.#sink);
  }

  async #sync(sink: AuditSink): Promise<void> {
    try {
      await sink.synced();
    } catch (error) {
      this.#hasFailed(error);
      if (sink === this.#sink) this.#giveUp();
      throw error;
    }
  }

  /** Ends the log. Logs the loss of lines that can't be written. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.append({ event: 'log.closed' });
    this.#isClosed = true;
    clearTimeout(this.#syncTimer);
    clearTimeout(this.#retryTimer);
    try {
      if (this.#pendingBytes > 0) throw new Error('lines are left that could not be written');
      await this.#sink?.close();
    } catch (error) {
      this.logger.error({ err: error, folder: this.folder }, 'the audit log is not complete');
    }
  }

  #add(time: string, { event, ...entry }: AuditEntry): number {
    const sequence = (this.#sequence += 1);
    const bytes = Buffer.from(`${JSON.stringify({ time, sequence, event, ...entry })}\n`);
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    return sequence;
  }

  #addGap(time: string): void {
    if (this.#gap) this.#add(time, { event: 'log.gap', ...this.#gap });
    this.#gap = undefined;
  }

  #drain(): void {
    try {
      this.#sink ??= this.#open();
      for (let first = this.#pending[0]; first; first = this.#pending[0]) {
        const written = this.#sink.append(first);
        this.#pendingBytes -= written;
        this.#isPartial = written < first.length;
        // The rest of the line follows once there is room.
        if (this.#isPartial) this.#pending[0] = first.subarray(written);
        else this.#pending.shift();
      }
      if (this.#failedAtMs !== undefined) this.#hasRecovered();
      if (!this.#sink.isSynced) this.#syncTimer ??= setTimeout(() => this.#syncBatch(), SYNC_MS).unref();
    } catch (error) {
      this.#hasFailed(error);
    }
  }

  #syncBatch(): void {
    this.#syncTimer = undefined;
    // A failure is reported, and lines are written to another file.
    if (this.#sink) this.#sync(this.#sink).catch(() => undefined);
  }

  #open(): AuditSink {
    makeFolder(this.folder);
    const sink = new AuditSink(auditFilePath(this.folder, this.#name, this.#part + 1));
    this.#part += 1;
    this.#day = new Date().toISOString().slice(0, 10);
    return sink;
  }

  /** Continues in another file when the current one is large or from another day. */
  #rotate(time: string): void {
    const last = this.#sink;
    if (!last || this.#pendingBytes > 0) return;
    if (last.bytes < this.limits.largestFileBytes && time.startsWith(this.#day)) return;
    try {
      this.#sink = this.#open();
      last.close().catch((error: unknown) => this.#hasFailed(error));
    } catch (error) {
      this.#hasFailed(error);
    }
  }

  /** Drops a file that was removed or can't be synced. The next line goes to another one. */
  #giveUp(): void {
    const last = this.#sink;
    this.#sink = undefined;
    if (this.#isPartial) this.#pendingBytes -= this.#pending.shift()?.length ?? 0;
    this.#isPartial = false;
    last?.close().catch(() => undefined);
  }

  #hasFailed(error: unknown): void {
    const nowMs = performance.now();
    this.#failedAtMs ??= nowMs;
    if (nowMs - this.#reportedAtMs >= REPORT_MS) {
      this.#reportedAtMs = nowMs;
      this.logger.error({ err: error, folder: this.folder }, 'the audit log cannot be written');
    }
    if (!this.#isClosed) this.#retryTimer ??= setTimeout(() => this.#retry(), RETRY_MS).unref();
  }

  #retry(): void {
    this.#retryTimer = undefined;
    this.#drain();
  }

  #hasRecovered(): void {
    const forMs = Math.round(performance.now() - this.#failedAtMs!);
    this.#failedAtMs = undefined;
    this.#reportedAtMs = -Infinity;
    this.logger.warn(
      { folder: this.folder, forMs, missing: this.#gap?.missing ?? 0 },
      'the audit log is written again',
    );
    if (!this.#gap) return;
    this.#addGap(new Date().toISOString());
    this.#drain();
  }
}

/** Creates one folder at a time: in /proc, Node.js repeats a recursive `mkdir` forever. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have created it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
