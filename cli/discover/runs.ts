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

/** Runs by workflow type, the type with most runs first. */
export function byType(infos: readonly RunInfo[]): [type: string, infos: RunInfo[]][] {
  return byCount(infos, ({ type }) => type?.name ?? '');
}

/** Numbers by status, the most frequent first: `9 completed, 2 failed`. */
export function statusCounts(infos: readonly RunInfo[]): Record<string, number> {
  const groups = byCount(infos, ({ status }) => statusName(status ?? 0));
  return Object.fromEntries(groups.map(([name, { length }]) => [name, length]));
}

function statusName(status: number): string {
  return (Status[status] ?? '').replace('WORKFLOW_EXECUTION_STATUS_', '').toLowerCase().replaceAll('_', ' ');
}

/** Task queues, most runs first. */
export function taskQueues(infos: readonly RunInfo[]): string[] {
  return byCount(infos, ({ taskQueue }) => taskQueue ?? '').flatMap(([queue]) => queue || []);
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

interface Durations {
  /** Median of the completed executions, in seconds; undefined without any. */
  medianSeconds?: number;
  /** Longest execution, including open ones, in seconds. */
  longestSeconds: number;
}

/** Durations of executions. Runs that continue as new count as one. */
export function durationsOf(infos: readonly RunInfo[], nowMs: number): Durations {
  const completed: number[] = [];
  let longestSeconds = 0;
  for (const [, runs] of byCount(infos, ({ execution }) => execution?.workflowId ?? '')) {
    let beganMs: number | undefined;
    for (const run of runs.sort((one, other) => startMs(one) - startMs(other))) {
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

/** Groups, the largest first. */
function byCount(infos: readonly RunInfo[], keyOf: (info: RunInfo) => string): [key: string, RunInfo[]][] {
  const groups = new Map<string, RunInfo[]>();
  for (const info of infos) {
    const group = groups.get(keyOf(info)) ?? [];
    groups.set(keyOf(info), group);
    group.push(info);
  }
  return [...groups].sort(([, one], [, other]) => other.length - one.length);
}

function startMs({ startTime }: RunInfo): number {
  return toDate(startTime ?? {}).getTime();
}
