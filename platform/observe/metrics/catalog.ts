/**
 * Declares every metric and its labels. Names have Prometheus's form: prefix, base unit, `_total` for counters. A test compares
 * this list with docs/metrics.md and a live page.
 */

/** Histogram bounds in seconds, for calls, time in queues, and operations. */
const CALLS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300];
const QUEUES = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 30, 60, 300, 900, 3_600];
const WORK = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 10_800, 43_200, 86_400];

interface Described {
  type: 'counter' | 'gauge' | 'histogram';
  labels: readonly string[];
  /** Processes that have it. */
  of: 'server' | 'worker' | 'both';
  unit?: 'seconds' | 'bytes';
  help: string;
  buckets?: readonly number[];
}

export const METRICS = {
  longhaul_operations_started_total: {
    type: 'counter',
    labels: ['tool'],
    of: 'server',
    help: 'Operations that this server has started.',
  },
  longhaul_operations_closed_total: {
    type: 'counter',
    labels: ['tool', 'status'],
    of: 'both',
    help: 'Operations that this worker has closed, or this server has ended because their time was up.',
  },
  longhaul_operation_duration_seconds: {
    type: 'histogram',
    labels: ['tool', 'status'],
    of: 'worker',
    unit: 'seconds',
    buckets: WORK,
    help: 'Time from the start of an operation to its end.',
  },
  longhaul_operation_first_progress_seconds: {
    type: 'histogram',
    labels: ['tool'],
    of: 'worker',
    unit: 'seconds',
    buckets: QUEUES,
    help: 'Time from the start of an operation to its first progress.',
  },
  longhaul_operations_open: {
    type: 'gauge',
    labels: ['tool', 'status'],
    of: 'server',
    help: 'Open operations of the task queue.',
  },
  longhaul_questions_open: {
    type: 'gauge',
    labels: [],
    of: 'server',
    help: 'Operations that wait for an answer.',
  },
  longhaul_question_oldest_age_seconds: {
    type: 'gauge',
    labels: [],
    of: 'server',
    unit: 'seconds',
    help: 'Age of the oldest unanswered question; 0 without one.',
  },
  longhaul_mailbox_agents: {
    type: 'gauge',
    labels: ['state'],
    of: 'server',
    help: 'Agents of the mailbox.',
  },
  longhaul_mailbox_messages: {
    type: 'gauge',
    labels: ['state'],
    of: 'server',
    help: 'Messages of the mailbox that are not acknowledged.',
  },
  longhaul_mailbox_oldest_message_age_seconds: {
    type: 'gauge',
    labels: [],
    of: 'server',
    unit: 'seconds',
    help: 'Age of the oldest message that is not acknowledged; 0 without one.',
  },
  longhaul_mailbox_dead_letters: {
    type: 'gauge',
    labels: [],
    of: 'server',
    help: 'Dead letters of the mailbox.',
  },
  longhaul_activity_queue_seconds: {
    type: 'histogram',
    labels: ['queue'],
    of: 'worker',
    unit: 'seconds',
    buckets: QUEUES,
    help: 'Time of an attempt of an activity from its schedule to its start on this worker.',
  },
  longhaul_turn_wait_seconds: {
    type: 'histogram',
    labels: ['tool'],
    of: 'worker',
    unit: 'seconds',
    buckets: QUEUES,
    help: "Time of an operation in its tool's queue until its turn.",
  },
  longhaul_task_queue_backlog: {
    type: 'gauge',
    labels: ['task_queue', 'type'],
    of: 'server',
    help: 'Tasks that wait in a task queue of Temporal, approximately.',
  },
  longhaul_task_queue_backlog_age_seconds: {
    type: 'gauge',
    labels: ['task_queue', 'type'],
    of: 'server',
    unit: 'seconds',
    help: 'Age of the oldest task that waits in a task queue of Temporal, approximately.',
  },
  longhaul_task_queue_pollers: {
    type: 'gauge',
    labels: ['task_queue', 'type'],
    of: 'server',
    help: 'Workers that poll a task queue.',
  },
  longhaul_host_last_seen_timestamp_seconds: {
    type: 'gauge',
    labels: ['host'],
    of: 'server',
    unit: 'seconds',
    help: 'Time at which a worker of the host last polled, in seconds since 1970.',
  },
  longhaul_build_open_operations: {
    type: 'gauge',
    labels: ['build', 'status', 'polled'],
    of: 'server',
    help: 'Open operations that only this build of the workers can run.',
  },
  longhaul_request_duration_seconds: {
    type: 'histogram',
    labels: ['protocol', 'method', 'outcome'],
    of: 'server',
    unit: 'seconds',
    buckets: CALLS,
    help: 'Time from a request over HTTP to the end of its response.',
  },
  longhaul_streams_open: {
    type: 'gauge',
    labels: ['protocol'],
    of: 'server',
    help: 'Open event streams: subscriptions, and streams of sessions and of jobs.',
  },
  longhaul_wait_seconds: {
    type: 'histogram',
    labels: ['protocol', 'end'],
    of: 'server',
    unit: 'seconds',
    buckets: CALLS,
    help: 'Time for which a call waited for an operation.',
  },
  longhaul_waits_open: {
    type: 'gauge',
    labels: [],
    of: 'server',
    help: 'Calls that wait for an operation.',
  },
  longhaul_watched_operations: {
    type: 'gauge',
    labels: [],
    of: 'server',
    help: 'Operations that this server watches.',
  },
  longhaul_history_polls_open: {
    type: 'gauge',
    labels: [],
    of: 'server',
    help: 'Long polls of histories that this server has open.',
  },
  longhaul_temporal_request_duration_seconds: {
    type: 'histogram',
    labels: ['method', 'outcome'],
    of: 'both',
    unit: 'seconds',
    buckets: CALLS,
    help: 'Time of a call to Temporal, with the retries of its SDK.',
  },
  longhaul_temporal_throttled_total: {
    type: 'counter',
    labels: ['method'],
    of: 'both',
    help: 'Calls that Temporal refused for now, because a limit of its rate was reached.',
  },
  longhaul_visibility_calls_total: {
    type: 'counter',
    labels: ['use'],
    of: 'server',
    help: "Calls to Temporal's visibility store.",
  },
  longhaul_visibility_calls_waiting: {
    type: 'gauge',
    labels: [],
    of: 'server',
    help: 'Calls that wait for the budget of visibility.',
  },
  longhaul_storage_request_duration_seconds: {
    type: 'histogram',
    labels: ['operation'],
    of: 'both',
    unit: 'seconds',
    buckets: CALLS,
    help: 'Time of a call to the storage of large values, artifacts and logs.',
  },
  longhaul_storage_errors_total: {
    type: 'counter',
    labels: ['operation'],
    of: 'both',
    help: 'Calls to storage that failed, without those for a value that does not exist.',
  },
  longhaul_storage_size_bytes: {
    type: 'gauge',
    labels: [],
    of: 'both',
    unit: 'bytes',
    help: "Size of the home's storage folder, counted every ten minutes.",
  },
  longhaul_home_disk_free_bytes: {
    type: 'gauge',
    labels: [],
    of: 'both',
    unit: 'bytes',
    help: 'Free space on the disk of the home.',
  },
  longhaul_home_disk_size_bytes: {
    type: 'gauge',
    labels: [],
    of: 'both',
    unit: 'bytes',
    help: 'Size of the disk of the home.',
  },
  longhaul_ready: {
    type: 'gauge',
    labels: ['check'],
    of: 'both',
    help: 'Whether a check of /readyz passes: 1, or 0 if it fails or warns.',
  },
  longhaul_process_info: {
    type: 'gauge',
    labels: ['process', 'version'],
    of: 'both',
    help: 'Always 1: kind of process, and release.',
  },
  longhaul_process_cpu_seconds_total: {
    type: 'counter',
    labels: [],
    of: 'both',
    unit: 'seconds',
    help: 'CPU time of the process, in user and system mode.',
  },
  longhaul_process_resident_memory_bytes: {
    type: 'gauge',
    labels: [],
    of: 'both',
    unit: 'bytes',
    help: 'Resident memory of the process.',
  },
  longhaul_event_loop_delay_seconds: {
    type: 'gauge',
    labels: [],
    of: 'both',
    unit: 'seconds',
    help: 'Longest delay of the event loop since the last scrape.',
  },
} as const satisfies Record<string, Described>;

export type MetricName = keyof typeof METRICS;
type NameOf<Type extends Described['type']> = {
  [Name in MetricName]: (typeof METRICS)[Name]['type'] extends Type ? Name : never;
}[MetricName];
export type CounterName = NameOf<'counter'>;
export type GaugeName = NameOf<'gauge'>;
export type HistogramName = NameOf<'histogram'>;

export type Labels<Name extends MetricName> = Record<(typeof METRICS)[Name]['labels'][number], string>;
