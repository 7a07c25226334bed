/** Progress reports of activities: in heartbeats while they run, then in their result, failure details or last heartbeat. */
import type { Progress } from '../record.js';

/** Heartbeat details of an activity; also the last detail of a failure or cancellation. */
export interface ActivityReport {
  longhaul: 'report';
  progress?: Progress;
  /** Set once the work is done, while its outcome can't be stored: why. */
  waitsFor?: string;
}

/** Result of an activity that reported progress or waited for a worker. */
export interface ReportedResult {
  longhaul: 'result';
  progress?: Progress;
  /** Schedule-to-start latency in milliseconds; missing if negligible. */
  queuedMs?: number;
  result: unknown;
}

/** Progress in heartbeat details, or in a failure's detail. */
export function reportIn(detail: unknown): Progress | undefined {
  return isReport(detail) ? detail.progress : undefined;
}

/** Why an activity's outcome can't be stored now, by its heartbeat details. */
export function waitIn(detail: unknown): string | undefined {
  return isReport(detail) ? detail.waitsFor : undefined;
}

export function reportInResult(result: unknown): Progress | undefined {
  return isReportedResult(result) ? result.progress : undefined;
}

export function isReportedResult(result: unknown): result is ReportedResult {
  return (result as ReportedResult | null | undefined)?.longhaul === 'result';
}

interface Reporting {
  details?: unknown[] | null;
  lastHeartbeatDetails?: unknown;
}

/** Progress in the failure that ended an activity: an application failure, a cancellation or a time-out. */
export function reportInFailure(failure: unknown): Progress | undefined {
  const { details, lastHeartbeatDetails } = (failure ?? {}) as Reporting;
  return reportIn(details?.at(-1)) ?? reportIn(lastHeartbeatDetails);
}

export function withReport(details: readonly unknown[] | null | undefined, progress: Progress): unknown[] {
  return [...withoutReport(details), { longhaul: 'report', progress } satisfies ActivityReport];
}

export function withoutReport(details: readonly unknown[] | null | undefined): unknown[] {
  return (details ?? []).filter((detail) => !isReport(detail));
}

function isReport(detail: unknown): detail is ActivityReport {
  return (detail as ActivityReport | null | undefined)?.longhaul === 'report';
}
