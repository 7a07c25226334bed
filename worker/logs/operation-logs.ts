/**
 * Writes operations' logs: lines are buffered briefly and appended to storage. Adding lines never throws or blocks for long.
 * Lines that storage refuses are kept up to a limit, then dropped with a notice in the log.
 */
import { inspect, types } from 'node:util';
import { limitNotice } from '../steps/output/log.js';
import { ChunkedLog } from '../../platform/storage/chunked-log.js';
import type { Logger } from '../../platform/observe/log.js';
import { withTimeout } from '../../platform/with-timeout.js';
import { operationLogPrefix } from '../../platform/storage/keys.js';
import type { Storage } from '../../platform/storage/index.js';
import type { LineReserve } from './line-reserve.js';

/** How long lines are buffered, in milliseconds; longer where storage asks for fewer appends. */
const COLLECT_MS = 300;
/** Longest pause between two attempts to write, in milliseconds. The first is {@link COLLECT_MS}. */
const LONGEST_RETRY_MS = 30_000;
/** How long {@link OperationLogs.flush} and {@link OperationLogs.close} wait for storage, in milliseconds. */
const FLUSH_LIMIT_MS = 1_000;
const LOG_LIMIT_BYTES = 16 * 1024 * 1024;
const BUFFER_LIMIT_BYTES = 1024 * 1024;

export interface OperationLogsOptions {
  storage: Storage;
  logger: Pick<Logger, 'warn'>;
  /** Keeps lines that storage doesn't take, for the next worker. Default: memory only. */
  reserve?: Pick<LineReserve, 'keep' | 'written'>;
  /** Maximum size of an operation's log, in bytes; at least 1 KiB more than {@link MAX_LINE_BYTES}. Default: 16 MiB. */
  limitBytes?: number;
  /** Maximum buffer of one log, in bytes. Default: 1 MiB. */
  bufferBytes?: number;
}

export class OperationLogs {
  readonly #open = new Map<string, BufferedLog>();

  constructor(private readonly options: OperationLogsOptions) {}

  /** Adds a line, without a line end, to the log of the operation with this workflow ID. */
  add(workflowId: string, line: string): void {
    let log = this.#open.get(workflowId);
    if (!log) {
      log = new BufferedLog(this.options, workflowId, () => this.#open.delete(workflowId));
      this.#open.set(workflowId, log);
    }
    log.add(line);
  }

  /** Writes an operation's buffered lines; resolves within a second. */
  async flush(workflowId: string): Promise<void> {
    const log = this.#open.get(workflowId);
    if (log) await withTimeout(log.write(), FLUSH_LIMIT_MS);
  }

  /** Writes lines that a killed worker left, except those that the log already ends with. @throws errors of storage */
  async restore(workflowId: string, lines: string[]): Promise<void> {
    const { storage, limitBytes = LOG_LIMIT_BYTES } = this.options;
    const log = new ChunkedLog(storage, operationLogPrefix(workflowId));
    const all = lines.map((line) => Buffer.from(`${line}\n`));
    const text = Buffer.concat(all);
    const from = Math.max(0, ((await log.size()) ?? 0) - text.length);
    const end = await log.read({ from, lengthBytes: text.length });
    let [count, bytes] = [all.length, text.length];
    while (!endsWith(end, text.subarray(0, bytes))) bytes -= all[(count -= 1)]!.length;
    await log.append((sizeBytes) => linesThatFit(all.slice(count), sizeBytes, limitBytes));
  }

  /** Writes all buffered lines; resolves within a second. */
  async close(): Promise<void> {
    await withTimeout(Promise.all([...this.#open.values()].map((log) => log.write())), FLUSH_LIMIT_MS);
    for (const log of this.#open.values()) log.stop();
  }
}

class BufferedLog {
  #lines: Buffer[] = [];
  #bytes = 0;
  #droppedLines = 0;
  #timer: NodeJS.Timeout | undefined;
  #retryMs: number;
  #hasWarned = false;
  /** Whether storage refused the last batch. */
  #isFailing = false;
  #writing: Promise<void> | undefined;

  constructor(
    private readonly options: OperationLogsOptions,
    private readonly workflowId: string,
    /** Called when there is nothing more to write. */
    private readonly onEmpty: () => void,
  ) {
    this.#retryMs = Math.max(COLLECT_MS, options.storage.appendPauseMs);
  }

  add(line: string): void {
    const bytes = Buffer.from(`${line}\n`);
    const { bufferBytes = BUFFER_LIMIT_BYTES } = this.options;
    if (this.#bytes + bytes.length > bufferBytes) this.#droppedLines += 1;
    else {
      this.#noteDropped();
      this.#push(bytes);
      if (this.#isFailing) this.options.reserve?.keep(this.workflowId, line);
    }
    this.#timer ??= setTimeout(() => void this.write(), this.#retryMs);
  }

  /** Resolves when all lines are written or couldn't be. */
  write(): Promise<void> {
    this.stop();
    // The running write includes lines that are added meanwhile.
    return (this.#writing ??= this.#write().finally(() => (this.#writing = undefined)));
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #write(): Promise<void> {
    const { storage, logger, limitBytes = LOG_LIMIT_BYTES } = this.options;
    const log = new ChunkedLog(storage, operationLogPrefix(this.workflowId));
    while (this.#lines.length > 0 || this.#droppedLines > 0) {
      this.#noteDropped();
      const batch = [...this.#lines];
      try {
        await log.append((sizeBytes) => linesThatFit(batch, sizeBytes, limitBytes));
      } catch (error) {
        if (!this.#isFailing) this.#keepAll();
        if (!this.#hasWarned)
          logger.warn(
            { err: error, workflowId: this.workflowId },
            "an operation's log can't be written; trying again",
          );
        this.#hasWarned = true;
        this.#retryMs = Math.min(LONGEST_RETRY_MS, this.#retryMs * 2);
        this.#timer ??= setTimeout(() => void this.write(), this.#retryMs);
        return;
      }
      this.#lines.splice(0, batch.length);
      for (const { length } of batch) this.#bytes -= length;
      this.options.reserve?.written(this.workflowId);
      this.#isFailing = false;
    }
    this.stop();
    this.onEmpty();
  }

  #keepAll(): void {
    this.#isFailing = true;
    for (const line of this.#lines)
      this.options.reserve?.keep(this.workflowId, line.subarray(0, -1).toString());
  }

  #push(line: Buffer): void {
    this.#lines.push(line);
    this.#bytes += line.length;
  }

  #noteDropped(): void {
    if (this.#droppedLines === 0) return;
    this.#push(
      Buffer.from(
        `--- ${this.#droppedLines} lines are missing: they came faster than they could be written\n`,
      ),
    );
    this.#droppedLines = 0;
  }
}

/** The lines that fit within the limit. A notice follows the last one when the limit is reached. */
function linesThatFit(lines: Buffer[], sizeBytes: number, limitBytes: number): Buffer {
  const notice = Buffer.from(`${limitNotice(limitBytes)}\n`);
  const room = limitBytes - sizeBytes - notice.length;
  const fitsLine = (takenBytes: number) => room - takenBytes >= MAX_LINE_BYTES + notice.length;
  const taken: Buffer[] = [];
  let takenBytes = 0;
  for (const line of lines) {
    if (!fitsLine(takenBytes)) break;
    taken.push(line);
    takenBytes += line.length;
  }
  if (taken.length > 0 && !fitsLine(takenBytes)) taken.push(notice);
  return Buffer.concat(taken);
}

function endsWith(bytes: Buffer, end: Buffer): boolean {
  return end.length <= bytes.length && bytes.subarray(bytes.length - end.length).equals(end);
}

/** Maximum length of a line with its line end, in bytes: 8 KiB. */
const MAX_LINE_BYTES = 8 * 1024;

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error';

export interface LogEntry {
  level: LogLevel;
  /** `workflow` or `activity`, and its type. */
  source: string;
  /** A string, or anything that an author's JavaScript passes. */
  message: unknown;
  attributes: Record<string, unknown>;
}

/**
 * One line: time in UTC as ISO 8601, level, source, message, and any attributes as JSON. Never throws: attributes that can't be
 * JSON are formatted by Node.js's `inspect`.
 *
 * @example 2026-11-22T13:11:40.123Z WARN activity pour: the pump is slow {"cup":2}
 */
export function logLine({ level, source, message, attributes }: LogEntry, at = new Date()): string {
  const shown = jsonOf(attributes);
  const text = oneLine(typeof message === 'string' ? message : inspect(message));
  return cut(
    `${at.toISOString()} ${level.toUpperCase()} ${source}: ${text}${shown === '{}' ? '' : ` ${shown}`}`,
  );
}

function jsonOf(attributes: Record<string, unknown>): string {
  try {
    return JSON.stringify(attributes, showable) ?? '{}';
  } catch {
    // A cycle, or a getter that throws.
    return JSON.stringify(inspect(attributes));
  }
}

function showable(_key: string, value: unknown): unknown {
  if (types.isNativeError(value) || value instanceof Error) return inspect(value);
  // JSON would drop or refuse these.
  const isLost =
    ['bigint', 'function', 'symbol'].includes(typeof value) || types.isMap(value) || types.isSet(value);
  return isLost || (typeof value === 'number' && !Number.isFinite(value)) ? inspect(value) : value;
}

function oneLine(text: string): string {
  return text.replaceAll('\r', '\\r').replaceAll('\n', '\\n');
}

function cut(line: string): string {
  const bytes = Buffer.from(line);
  if (bytes.length < MAX_LINE_BYTES) return line;
  const rest = ` ... (${bytes.length} bytes)`;
  // A character cut in two decodes to U+FFFD.
  const kept = bytes.subarray(0, MAX_LINE_BYTES - 1 - rest.length - 2).toString();
  return kept.replace(/\ufffd$/, '') + rest;
}
