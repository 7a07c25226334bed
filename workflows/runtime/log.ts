/**
 * Temporal's logger for workflow code, silent during replay. Attributes are copied out of the sandbox. A value that can't be
 * copied, e.g. a function, would block the workflow, so it is logged as text.
 */
import { log as temporalLog } from '@temporalio/workflow';

type Write = (message: string, attributes?: Record<string, unknown>) => void;

/** Logs to the operation's log and to the worker's. Logging never fails the workflow. */
export const log: Record<'trace' | 'debug' | 'info' | 'warn' | 'error', Write> = {
  trace: (message, attributes) => temporalLog.trace(message, copied(attributes)),
  debug: (message, attributes) => temporalLog.debug(message, copied(attributes)),
  info: (message, attributes) => temporalLog.info(message, copied(attributes)),
  warn: (message, attributes) => temporalLog.warn(message, copied(attributes)),
  error: (message, attributes) => temporalLog.error(message, copied(attributes)),
};

function copied(attributes: Record<string, unknown> | undefined): Record<string, unknown> | undefined {
  return attributes && (copyable(attributes, []) as Record<string, unknown>);
}

/** @param around the objects that contain the value, outermost first */
function copyable(value: unknown, around: unknown[]): unknown {
  if (typeof value === 'function' || typeof value === 'symbol') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (around.includes(value)) return '[circular]';
  if (value instanceof Error) return value.stack ?? String(value);
  if (value instanceof Date || ArrayBuffer.isView(value)) return value;
  const inside = [...around, value];
  if (value instanceof Map || value instanceof Set || Array.isArray(value))
    return Array.from(value as Iterable<unknown>, (item) => copyable(item, inside));
  return Object.fromEntries(Object.keys(value).map((key) => [key, member(value, key, inside)]));
}

function member(object: object, key: string, around: unknown[]): unknown {
  try {
    return copyable((object as Record<string, unknown>)[key], around);
  } catch (error) {
    // A getter threw.
    return `[${String(error)}]`;
  }
}
