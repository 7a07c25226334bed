/** Listed runs: by type, with their statuses and durations. */
import proto from '@temporalio/proto';
import { median } from '../../operations/estimate.js';
import { toDate } from '../../engine/read/history.js';
import type { RunInfo } from '../../engine/list/current-runs.js';

const { WorkflowExecutionStatus: Status } = proto.temporal.api.enums.v1;
const OPEN: readonly number[] = [
  Status.WORKFLOW_EXECUTION_STATUS_RUNNING,
  Status.WORKFLOW_EXECUTION_STATUS_PAUSED,
];
const COMPLETED = Status.WORKFLOW_EXECUTION_STATUS_COMPLETED;
const CONTINUED = Status.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW;

const LEAST_TIMEOUT_MINUTES = 60;
/** Time-out of a workflow that asks: three days. */
const ANSWER_MINUTES = 3 * 24 * 60;
const TIMEOUT_ROOM = 4;
/** A year: the maximum in a tool's file. */
const MAX_MINUTES = 365 * 24 * 60;

export function byType(infos: readonly RunInfo[]): Map<string, RunInfo[]> {
  return grouped(infos, ({ type }) => type?.name ?? '');
}

/** Numbers by status, the most frequent first: `9 completed, 2 failed`. */
export function statusCounts(infos: readonly RunInfo[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const { status } of infos) {
    const name = statusName(status ?? 0);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return Object.fromEntries([...counts].sort(([, one], [, other]) => other - one));
}

function statusName(status: number): string {
  return (Status[status] ?? '').replace('WORKFLOW_EXECUTION_STATUS_', '').toLowerCase().replaceAll('_', ' ');
}

/** Task queues, most runs first. */
export function taskQueues(infos: readonly RunInfo[]): string[] {
  const groups = grouped(infos, ({ taskQueue }) => taskQueue ?? '');
  return [...groups]
    .filter(([queue]) => queue !== '')
    .sort(([, one], [, other]) => other.length - one.length)
    .map(([queue]) => queue);
}

/** The most informative runs: completed ones, an open one, then others, each latest first. */
export function chosenRuns(infos: readonly RunInfo[], count: number): RunInfo[] {
  const latest = [...infos].sort((one, other) => startMs(other) - startMs(one));
  const [open, ...moreOpen] = latest.filter(isOpenRun);
  const completed = latest.filter(({ status }) => status === COMPLETED);
  const others = latest.filter((info) => !isOpenRun(info) && info.status !== COMPLETED);
  const first = completed.slice(0, Math.max(1, count - (open ? 1 : 0)));
  const rest = [...completed.slice(first.length), ...others, ...moreOpen];
  return [...first, ...(open ? [open] : []), ...rest].slice(0, count);
}

export function isOpenRun({ status }: RunInfo): boolean {
  return OPEN.includes(status ?? 0);
}

export interface Durations {
  /** Median of the completed executions, in seconds; undefined without any. */
  medianSeconds?: number;
  /** Longest execution, including open ones, in seconds. */
  longestSeconds: number;
}

/** Durations of executions. Runs that continue as new count as one. */
export function durationsOf(infos: readonly RunInfo[], nowMs: number): Durations {
  const completed: number[] = [];
  let longestSeconds = 0;
  for (const runs of grouped(infos, ({ execution }) => execution?.workflowId ?? '').values()) {
    let beganMs: number | undefined;
    for (const run of [...runs].sort((one, other) => startMs(one) - startMs(other))) {
      beganMs ??= startMs(run);
      const seconds =
        Math.max(0, (run.closeTime ? toDate(run.closeTime).getTime() : nowMs) - beganMs) / 1_000;
      longestSeconds = Math.max(longestSeconds, seconds);
      if (run.status === COMPLETED) completed.push(seconds);
      if (run.status !== CONTINUED) beganMs = undefined;
    }
  }
  return { longestSeconds, ...(completed.length > 0 ? { medianSeconds: median(completed) } : {}) };
}

/** Two significant digits, at least a hundredth of a minute. */
export function estimateMinutes(seconds: number): number {
  return Math.min(MAX_MINUTES, Math.max(0.01, Number((seconds / 60).toPrecision(2))));
}

/** The longest execution time-out of the runs, else the longest run with room. Days if a person has to answer meanwhile. */
export function timeoutMinutes(
  timeoutsSeconds: readonly number[],
  longestSeconds: number,
  isAsking = false,
): number {
  const least = isAsking ? ANSWER_MINUTES : LEAST_TIMEOUT_MINUTES;
  const minutes = timeoutsSeconds.length
    ? Math.max(...timeoutsSeconds) / 60
    : Math.max(least, Math.ceil((longestSeconds * TIMEOUT_ROOM) / 3600) * 60);
  return Math.min(MAX_MINUTES, Number(minutes.toFixed(2)));
}

function grouped(infos: readonly RunInfo[], keyOf: (info: RunInfo) => string): Map<string, RunInfo[]> {
  const groups = new Map<string, RunInfo[]>();
  for (const info of infos) {
    const key = keyOf(info);
    const group = groups.get(key);
    if (group) group.push(info);
    else groups.set(key, [info]);
  }
  return groups;
}

function startMs({ startTime }: RunInfo): number {
  return toDate(startTime ?? {}).getTime();
}
