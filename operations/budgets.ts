/** Times: how long callers wait, how often they look, how long results stay. */
import type { OperationRecord } from './record.js';

/** Default keepAlive: a day. */
export const DEFAULT_KEEP_ALIVE_SECONDS = 24 * 3600;

/**
 * How long after closing a result can be read: what the caller asked for, else the tool's own time, bounded by
 * what Temporal keeps. `null` (unlimited) is answered with that bound.
 *
 * @param requestedSeconds what the caller asked for; null for unlimited, undefined for nothing said
 * @param defaultSeconds the tool's own keepAlive
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

/**
 * How long clients are advised to allow for work of this maximum duration, in seconds: from 1.5 to 2 times as long, so that
 * they hear of the time-out instead of giving up before.
 */
export function clientBudgetSeconds(deadlineSeconds: number): [from: number, to: number] {
  return [Math.ceil(deadlineSeconds * 1.5), Math.ceil(deadlineSeconds * 2)];
}

/**
 * How often a client should look, in milliseconds: a twentieth of the estimate, between 1 and 30 seconds.
 */
export function pollIntervalMs(estimateSeconds: number | undefined): number {
  return Math.round(Math.min(30, Math.max(1, (estimateSeconds ?? 60) / 20)) * 1000);
}

/**
 * How long an operation can be found, from its creation to the end of its result's keepAlive, in milliseconds; null
 * while it is open, since nothing but its work, a cancel or an operator ends it.
 */
export function lifetimeMs({
  createdAt,
  closedAt,
  keepAliveSeconds,
}: Pick<OperationRecord, 'createdAt' | 'closedAt' | 'keepAliveSeconds'>): number | null {
  return closedAt ? Date.parse(closedAt) - Date.parse(createdAt) + keepAliveSeconds * 1000 : null;
}

/** A duration for people: `250 ms`, `45 s`, `12 min`, `3 h`. */
export function humanDuration(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3600)} h`;
}
