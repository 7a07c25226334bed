/**
 * Temporal's logger for workflow code, silent during replay. Attributes are copied out of the sandbox. A value that can't be
 * copied, e.g. a function, would block the workflow, so it is logged as text.
 */
import { log as temporalLog, workflowInfo } from '@temporalio/workflow';

type Write = (message: string, attributes?: Record<string, unknown>) => void;

/** Logs to the operation's log and to the worker's. Logging never fails the workflow. */
export const log: Record<'trace' | 'debug' | 'info' | 'warn' | 'error', Write> = {
  trace: (message, attributes) => temporalLog.trace(message, copied(attributes)),
  debug: (message, attributes) => temporalLog.debug(message, copied(attributes)),
  info: (message, attributes) => temporalLog.info(message, copied(attributes)),
  warn: (message, attributes) => temporalLog.warn(message, copied(attributes)),
  error: (message, attributes) => temporalLog.error(message, copied(attributes)),
};

const MAX_MISTAKES = 100;
const mistakes = new Set<string>();

/** Logs a mistake of the author's code that doesn't end the work, once. */
export function warnOfMistake(problem: string): void {
  if (mistakes.has(problem) || mistakes.size >= MAX_MISTAKES) return;
  mistakes.add(problem);
  log.warn(problem);
}

/** A run's history gets a warning at these sizes. Temporal ends the run at 50 MiB or 51,200 events. */
const LARGE_HISTORY_BYTES = 4 * 1024 * 1024;
const LONG_HISTORY_EVENTS = 4_096;

const CONTINUE = 'continue as new before Temporal ends the run';

let isLargeKnown = false;
let isLongKnown = false;

/** Call it in each activation. A replay passes the same sizes silently, so a run logs each line once. */
export function warnOfHistory(): void {
  const { historySize: bytes, historyLength: events } = workflowInfo();
  if (!isLargeKnown && bytes >= LARGE_HISTORY_BYTES) {
    isLargeKnown = true;
    log.warn(`the history is large: ${CONTINUE}`, { bytes, events });
  }
  if (!isLongKnown && events >= LONG_HISTORY_EVENTS) {
    isLongKnown = true;
    log.warn(`the history is long: ${CONTINUE}`, { bytes, events });
  }
}

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
