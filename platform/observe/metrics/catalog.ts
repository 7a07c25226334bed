/**
 * Declares every metric and its labels. Names have Prometheus's form: prefix, base unit, `_total` for counters. A test compares
 * this list with docs/metrics.md and a live page.
 */

/** Histogram bounds in seconds, for calls, time in queues, and operations. */
const CALLS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300];
const QUEUES = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 30, 60, 300, 900, 3_600];
const WORK = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 10_800, 43_200, 86_400];

type Process = 'server' | 'worker' | 'both';

/** Makes metrics of the processes that have them. */
const of = (process: Process) => ({
  counter: <const L extends readonly string[]>(labels: L, help: string) =>
    ({ type: 'counter', of: process, labels, help }) as const,
  gauge: <const L extends readonly string[]>(labels: L, help: string) =>
    ({ type: 'gauge', of: process, labels, help }) as const,
  histogram: <const L extends readonly string[]>(labels: L, buckets: readonly number[], help: string) =>
    ({ type: 'histogram', of: process, labels, help, buckets }) as const,
});
const server = of('server');
const worker = of('worker');
const both = of('both');

export const METRICS = {
  longhaul_operations_started_total: server.counter(['tool'], 'Operations that this server has started.'),
  longhaul_operations_closed_total: both.counter(
    ['tool', 'status'],
    'Operations that this worker has closed, or this server has ended because their time was up.',
  ),
  longhaul_operation_duration_seconds: worker.histogram(
    ['tool', 'status'],
    WORK,
    'Time from the start of an operation to its end.',
  ),
  longhaul_operation_first_progress_seconds: worker.histogram(
    ['tool'],
    QUEUES,
    'Time from the start of an operation to its first progress.',
  ),
  longhaul_operations_open: server.gauge(['tool', 'status'], 'Open operations of the task queue.'),
  longhaul_questions_open: server.gauge([], 'Operations that wait for an answer.'),
  longhaul_question_oldest_age_seconds: server.gauge(
    [],
    'Age of the oldest unanswered question; 0 without one.',
  ),
  longhaul_mailbox_agents: server.gauge(['state'], 'Agents of the mailbox.'),
  longhaul_mailbox_messages: server.gauge(['state'], 'Messages of the mailbox that are not acknowledged.'),
  longhaul_mailbox_oldest_message_age_seconds: server.gauge(
    [],
    'Age of the oldest message that is not acknowledged; 0 without one.',
  ),
  longhaul_mailbox_dead_letters: server.gauge([], 'Dead letters of the mailbox.'),
  longhaul_activity_queue_seconds: worker.histogram(
    ['queue'],
    QUEUES,
    'Time of an attempt of an activity from its schedule to its start on this worker.',
  ),
  longhaul_turn_wait_seconds: worker.histogram(
    ['tool'],
    QUEUES,
    "Time of an operation in its tool's queue until its turn.",
  ),
  longhaul_task_queue_backlog: server.gauge(
    ['task_queue', 'type'],
    'Tasks that wait in a task queue of Temporal, approximately.',
  ),
  longhaul_task_queue_backlog_age_seconds: server.gauge(
    ['task_queue', 'type'],
    'Age of the oldest task that waits in a task queue of Temporal, approximately.',
  ),
  longhaul_task_queue_pollers: server.gauge(['task_queue', 'type'], 'Workers that poll a task queue.'),
  longhaul_host_last_seen_timestamp_seconds: server.gauge(
    ['host'],
    'Time at which a worker of the host last polled, in seconds since 1970.',
  ),
  longhaul_build_open_operations: server.gauge(
    ['build', 'status', 'polled'],
    'Open operations that only this build of the workers can run.',
  ),
  longhaul_request_duration_seconds: server.histogram(
    ['protocol', 'method', 'outcome'],
    CALLS,
    'Time from a request over HTTP to the end of its response.',
  ),
  longhaul_streams_open: server.gauge(
    ['protocol'],
    'Open event streams: subscriptions, and streams of sessions and of jobs.',
  ),
  longhaul_wait_seconds: server.histogram(
    ['protocol', 'end'],
    CALLS,
    'Time for which a call waited for an operation.',
  ),
  longhaul_waits_open: server.gauge([], 'Calls that wait for an operation.'),
  longhaul_watched_operations: server.gauge([], 'Operations that this server watches.'),
  longhaul_history_polls_open: server.gauge([], 'Long polls of histories that this server has open.'),
  longhaul_temporal_request_duration_seconds: both.histogram(
    ['method', 'outcome'],
    CALLS,
    'Time of a call to Temporal, with the retries of its SDK.',
  ),
  longhaul_temporal_throttled_total: both.counter(
    ['method'],
    'Calls that Temporal refused for now, because a limit of its rate was reached.',
  ),
  longhaul_visibility_calls_total: server.counter(['use'], "Calls to Temporal's visibility store."),
  longhaul_visibility_calls_waiting: server.gauge([], 'Calls that wait for the budget of visibility.'),
  longhaul_storage_request_duration_seconds: both.histogram(
    ['operation'],
    CALLS,
    'Time of a call to the storage of large values, artifacts and logs.',
  ),
  longhaul_storage_errors_total: both.counter(
    ['operation'],
    'Calls to storage that failed, without those for a value that does not exist.',
  ),
  longhaul_storage_size_bytes: both.gauge(
    [],
    "Size of the home's storage folder, counted every ten minutes.",
  ),
  longhaul_home_disk_free_bytes: both.gauge([], 'Free space on the disk of the home.'),
  longhaul_home_disk_size_bytes: both.gauge([], 'Size of the disk of the home.'),
  longhaul_ready: both.gauge(['check'], 'Whether a check of /readyz passes: 1, or 0 if it fails or warns.'),
  longhaul_process_info: both.gauge(['process', 'version'], 'Always 1: kind of process, and release.'),
  longhaul_process_cpu_seconds_total: both.counter([], 'CPU time of the process, in user and system mode.'),
  longhaul_process_resident_memory_bytes: both.gauge([], 'Resident memory of the process.'),
  longhaul_event_loop_delay_seconds: both.gauge([], 'Longest delay of the event loop since the last scrape.'),
};

/** Base unit of a metric, which ends its name. */
export function unitOf(name: MetricName): string | undefined {
  return /_(seconds|bytes)(?:_total)?$/.exec(name)?.[1];
}

export type MetricName = keyof typeof METRICS;
type NameOf<Type extends 'counter' | 'gauge' | 'histogram'> = {
  [Name in MetricName]: (typeof METRICS)[Name]['type'] extends Type ? Name : never;
}[MetricName];
export type CounterName = NameOf<'counter'>;
export type GaugeName = NameOf<'gauge'>;
export type HistogramName = NameOf<'histogram'>;

export type Labels<Name extends MetricName> = Record<(typeof METRICS)[Name]['labels'][number], string>;
