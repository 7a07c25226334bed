/** Formats entries of an operation's log as lines of text. */
import { inspect, types } from 'node:util';

/** Maximum length of a line with its line end, in bytes: 8 KiB. */
export const MAX_LINE_BYTES = 8 * 1024;

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
