/** Durations: client time-outs, poll intervals, how long to keep results. */
import type { OperationRecord } from '../record.js';

/** Default keepAlive: a day. */
export const DEFAULT_KEEP_ALIVE_SECONDS = 24 * 3600;

/** Default budget to end an operation, beyond its maximum duration: 5 minutes. */
export const DEFAULT_CLEANUP_SECONDS = 300;

/** Default time for people to answer all of an operation's questions: 30 days. */
export const DEFAULT_INPUT_WAIT_SECONDS = 30 * 24 * 3600;

/** Longest time for work to stop after a cancel, in seconds. */
const STOP_SECONDS = 20;

/**
 * Divides the budget for ending an operation, in milliseconds. After the deadline, work has `stopMs` to end. Cleanups run `cleanupMs` more,
 * then are cancelled and have `stopMs` too. The rest is for closing the workflow.
 */
export function divideCleanup(cleanupSeconds: number): { stopMs: number; cleanupMs: number } {
  const stopMs = Math.min(STOP_SECONDS, cleanupSeconds / 8) * 1000;
  return { stopMs, cleanupMs: cleanupSeconds * 1000 - 3 * stopMs };
}

/**
 * How long a result can be read after closing, in seconds, within the namespace's retention.
 *
 * @param requestedSeconds by the caller; null for unlimited, undefined for the default
 * @param defaultSeconds the tool's keepAlive
 * @param retentionSeconds the namespace's retention
 */
export function boundKeepAlive(
  requestedSeconds: number | null | undefined,
  defaultSeconds: number,
  retentionSeconds: number,
): number {
  if (requestedSeconds === null) return retentionSeconds;
  const wanted = requestedSeconds !== undefined && requestedSeconds > 0 ? requestedSeconds : defaultSeconds;
  return Math.min(Math.ceil(wanted), retentionSeconds);
}

/** Recommended client time-out, in seconds: 1.5 to 2 times the maximum duration, so clients get the time-out error instead of giving up. */
export function clientBudgetSeconds(deadlineSeconds: number): [from: number, to: number] {
  return [Math.ceil(deadlineSeconds * 1.5), Math.ceil(deadlineSeconds * 2)];
}

/** Recommended poll interval, in milliseconds: a twentieth of the estimate, between 1 and 30 seconds. */
export function pollIntervalMs(estimateSeconds: number | undefined): number {
  return Math.round(Math.min(30, Math.max(1, (estimateSeconds ?? 60) / 20)) * 1000);
}

/** How long an operation can be read, from its creation to the end of keepAlive, in milliseconds; null while it's open. */
export function lifetimeMs({
  createdAt,
  closedAt,
  keepAliveSeconds,
}: Pick<OperationRecord, 'createdAt' | 'closedAt' | 'keepAliveSeconds'>): number | null {
  return closedAt ? Date.parse(closedAt) - Date.parse(createdAt) + keepAliveSeconds * 1000 : null;
}

/** Whether the result's keepAlive has passed. @param nowMs Temporal's time, in epoch milliseconds */
export function isPastKeepAlive(
  { closedAt, keepAliveSeconds }: Pick<OperationRecord, 'closedAt' | 'keepAliveSeconds'>,
  nowMs: number,
): boolean {
  return closedAt !== undefined && Date.parse(closedAt) + keepAliveSeconds * 1000 < nowMs;
}

/** Formats a duration: `250 ms`, `45 s`, `12 min`, `3 h`. */
export function humanDuration(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3600)} h`;
}

/**
 * Time-out of a workflow task, in milliseconds. A killed worker's task waits that long for the next worker. Equals the SDK's limit for
 * workflow code that doesn't yield (`isolateExecutionTimeout`).
 */
export const WORKFLOW_TASK_TIMEOUT_MS = 5_000;
