/** Progress reports of activities: in heartbeats while they run, then in their result, failure details or last heartbeat. */
import type { Progress } from '../record.js';
import { lossIn } from '../json/lossless.js';
import { isObject } from '../json/is-object.js';
import { cutText, LINE_BYTES } from './state.js';

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

/** A value as far as it can be used, and what is wrong with the rest, with path, expected and got. */
interface Usable<T> {
  value: T;
  problems: string[];
}

/** The usable fields of a progress that an author's code gives. Reports never fail the work, so a wrong field counts as missing. */
export function usableProgress(given: unknown, name: string): Usable<Partial<Progress>> {
  if (!isObject(given))
    return { value: {}, problems: [`${name}: expected { progress, total, message }; got ${shown(given)}`] };
  const value: Partial<Progress> = {};
  const problems: string[] = [];
  for (const field of ['progress', 'total'] as const) {
    const amount = given[field];
    if (typeof amount === 'number' && amount >= 0 && amount < Infinity) value[field] = amount;
    else if (amount !== undefined)
      problems.push(`${name}: ${field}: expected a number from 0; got ${shown(amount)}`);
  }
  if (given['message'] === undefined) return { value, problems };
  const message = usableLine(given['message'], `${name}: message`);
  return { value: { ...value, message: message.value }, problems: [...problems, ...message.problems] };
}

/** Longest text that a problem shows: a line of the log has 8 KiB. */
const LOGGED_BYTES = 4 * 1024;

/** A text as one line for people: shown by every status, so a long one is cut. */
export function usableLine(given: unknown, name: string): Usable<string> {
  const whole = typeof given === 'string' ? given : shown(given);
  const value = cutText(whole, LINE_BYTES);
  const problems = [
    ...(typeof given === 'string' ? [] : [`${name}: expected text; got ${value}`]),
    ...(value === whole
      ? []
      : [
          `${name}: expected one line of at most ${LINE_BYTES} bytes; it is cut: ${cutText(whole, LOGGED_BYTES)}. Give long text as a partial result`,
        ]),
  ];
  return { value, problems };
}

function shown(value: unknown): string {
  return isObject(value) || Array.isArray(value)
    ? lossIn(value, '')
      ? 'an object'
      : JSON.stringify(value)
    : String(value);
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
