/**
 * Progress reports of activities. They travel in heartbeats while the activity runs; afterwards in its result, in the
 * details of its failure or cancellation, or in the time-out's last heartbeat.
 */
import type { Progress } from './record.js';

/** Heartbeat details of an activity; also the last detail of a failure or cancellation. */
export interface ActivityReport {
  longhaul: 'report';
  progress?: Progress;
  /** Set once the activity's work is done, while its outcome can't be stored: why. */
  waitsFor?: string;
}

/** Result of an activity that reported progress or waited for a worker. */
export interface ReportedResult {
  longhaul: 'result';
  progress?: Progress;
  /** Schedule-to-start latency in milliseconds; missing where negligible. */
  queuedMs?: number;
  result: unknown;
}

/** Progress in heartbeat details, or in one detail of a failure. */
export function reportIn(detail: unknown): Progress | undefined {
  return isReport(detail) ? detail.progress : undefined;
}

/** Why the outcome of an activity, whose heartbeat details these are, can't be stored at present. */
export function waitIn(detail: unknown): string | undefined {
  return isReport(detail) ? detail.waitsFor : undefined;
}

/** Progress in an activity's result. */
export function reportInResult(result: unknown): Progress | undefined {
  return isReportedResult(result) ? result.progress : undefined;
}

export function isReportedResult(result: unknown): result is ReportedResult {
  return (result as ReportedResult | null | undefined)?.longhaul === 'result';
}

/** Fields of Temporal failures that hold an activity's report. */
interface Reporting {
  /** Details of an application failure or a cancellation. */
  details?: unknown[] | null;
  /** Last heartbeat of a time-out. */
  lastHeartbeatDetails?: unknown;
}

/** Progress in the failure that ended an activity: an application failure, a cancellation or a time-out. */
export function reportInFailure(failure: unknown): Progress | undefined {
  const { details, lastHeartbeatDetails } = (failure ?? {}) as Reporting;
  return reportIn(details?.at(-1)) ?? reportIn(lastHeartbeatDetails);
}

/** Appends a report to a failure's details. */
export function withReport(details: readonly unknown[] | null | undefined, progress: Progress): unknown[] {
  return [...withoutReport(details), { longhaul: 'report', progress } satisfies ActivityReport];
}

/** A failure's details without the report. */
export function withoutReport(details: readonly unknown[] | null | undefined): unknown[] {
  return (details ?? []).filter((detail) => !isReport(detail));
}

function isReport(detail: unknown): detail is ActivityReport {
  return (detail as ActivityReport | null | undefined)?.longhaul === 'report';
}
