/**
 * Temporal's time. It can't be compared with the local clock, which may differ by hours, and no call returns it. So a process notes
 * the newest time in Temporal's answers, which is never ahead of Temporal, and carries it on by the monotonic clock.
 */
import type { Client, ConnectionLike } from '@temporalio/client';
import proto from '@temporalio/proto';
import { withTimeout } from './with-timeout.js';

/** Task queue of Temporal's own worker in each namespace. Its latest poll is at most a minute old, whatever other workers do. */
const SYSTEM_QUEUE = 'temporal-sys-per-ns-tq';
/** Deadline of asking for a time, in milliseconds. */
const ASK_LIMIT_MS = 1_000;
/** How long an answer is taken for recent, in milliseconds, and the pause after a failure. */
const RECENT_MS = 60_000;
const RETRY_MS = 5_000;
/** After one to two of these windows a time is forgotten, in milliseconds: Temporal's clock may be set back. */
const WINDOW_MS = 1_800_000;
/** Difference between the local clock and the monotonic one that shows that this host has slept, in milliseconds. */
const SLEEP_MS = 1_000;

/** A time of Temporal, `Timestamp` of its API. */
export interface Timestamp {
  seconds?: unknown;
  nanos?: number | null;
}

type Times = readonly (Timestamp | null | undefined)[];
type QueueAnswer = proto.temporal.api.workflowservice.v1.IDescribeTaskQueueResponse;
type WorkflowAnswer = proto.temporal.api.workflowservice.v1.IDescribeWorkflowExecutionResponse;
type HistoryAnswer = proto.temporal.api.workflowservice.v1.IGetWorkflowExecutionHistoryResponse;

/** Times in answers of Temporal's service. None is ahead of Temporal: not those of timers, expirations and later attempts. */
const TIMES = {
  describeTaskQueue: ({ pollers }: QueueAnswer): Times =>
    (pollers ?? []).map(({ lastAccessTime }) => lastAccessTime),
  describeWorkflowExecution: ({
    workflowExecutionInfo: info,
    pendingWorkflowTask: task,
    pendingActivities,
  }: WorkflowAnswer): Times => [
    ...[info?.startTime, info?.closeTime, task?.originalScheduledTime, task?.startedTime],
    ...(pendingActivities ?? []).flatMap((one) => [one.lastStartedTime, one.lastHeartbeatTime]),
  ],
  getWorkflowExecutionHistory: ({ history }: HistoryAnswer): Times => [history?.events?.at(-1)?.eventTime],
  getWorkflowExecutionHistoryReverse: ({ history }: HistoryAnswer): Times => [
    history?.events?.[0]?.eventTime,
  ],
};

/** Temporal's time, as one connection has heard of it. */
export class TemporalTime {
  /** Temporal's time less `performance.now()`, in milliseconds: the newest of this window and of the one before. */
  #offsetMs = -Infinity;
  #offsetBeforeMs = -Infinity;
  #windowFromMs = performance.now();
  /** When to ask for a time, and until when the time is exact, by `performance.now()`. */
  #dueMs = 0;
  #exactUntilMs = -Infinity;
  #asking: Promise<void> | undefined;
  #localOffsetMs = localOffsetMs();

  /** Temporal's time now, in epoch milliseconds, or somewhat earlier; the local time as long as nothing was heard. */
  get nowMs(): number {
    const offsetMs = Math.max(this.#offsetMs, this.#offsetBeforeMs);
    return offsetMs === -Infinity ? Date.now() : Math.floor(performance.now() + offsetMs);
  }

  /** Whether {@link nowMs} is at most a call's duration behind. */
  get isExact(): boolean {
    return performance.now() < this.#exactUntilMs && !this.#hasSlept();
  }

  /** Whether nothing recent is known. */
  get isDue(): boolean {
    return performance.now() >= this.#dueMs || this.#hasSlept();
  }

  /** Notes times of an answer. */
  hear(times: Times): void {
    for (const time of times) if (time) this.hearMs(timestampMs(time));
  }

  /** Notes a time of Temporal, in epoch milliseconds. */
  hearMs(timeMs: number): void {
    this.#offsetMs = Math.max(this.#offsetMs, timeMs - performance.now());
  }

  /** Notes that one of the times heard was later than a call that has just been made. */
  hasHeardNow(): void {
    this.#exactUntilMs = performance.now() + WINDOW_MS;
    this.#localOffsetMs = localOffsetMs();
  }

  /** Has a time read. Concurrent callers share the call. @param read resolves to times of polls */
  async ask(read: () => Promise<Times | undefined>): Promise<void> {
    await (this.#asking ??= read()
      .catch(() => undefined)
      .then((times) => {
        const nowMs = performance.now();
        this.#dueMs = nowMs + (times ? RECENT_MS : RETRY_MS);
        if (this.#hasSlept()) this.#exactUntilMs = -Infinity;
        this.#localOffsetMs = localOffsetMs();
        if (times?.length && nowMs - this.#windowFromMs > WINDOW_MS) {
          this.#offsetBeforeMs = this.#offsetMs;
          this.#offsetMs = -Infinity;
          this.#windowFromMs = nowMs;
        }
        this.hear(times ?? []);
        this.#asking = undefined;
      }));
  }

  /** Whether this host has slept, which the monotonic clock doesn't count, or its clock was set. */
  #hasSlept(): boolean {
    return Math.abs(localOffsetMs() - this.#localOffsetMs) > SLEEP_MS;
  }
}

const byConnection = new WeakMap<object, TemporalTime>();

/** Temporal's time, as this connection has heard of it. */
export function temporalTime(connection: object): TemporalTime {
  const time = byConnection.get(connection) ?? new TemporalTime();
  byConnection.set(connection, time);
  return time;
}

/** Notes the times in all further answers on the connection. */
export function followTime<Connection extends Pick<ConnectionLike, 'workflowService'>>(
  connection: Connection,
): Connection {
  const time = temporalTime(connection);
  const service = connection.workflowService as unknown as Record<
    string,
    (request: object) => Promise<never>
  >;
  for (const [name, timesOf] of Object.entries(TIMES)) {
    const call = service[name]!.bind(service);
    service[name] = async (request) => {
      const answer = await call(request);
      time.hear(timesOf(answer));
      return answer;
    };
  }
  return connection;
}

/**
 * Temporal's time now, in epoch milliseconds: the newest heard on the client's connection, at most a minute behind where Temporal
 * lists its own worker, and never ahead. Asks for one at most once a minute.
 */
export async function temporalNowMs(client: Client): Promise<number> {
  const time = temporalTime(client.connection);
  if (time.isDue) await time.ask(() => withTimeout(systemPolls(client), ASK_LIMIT_MS));
  return time.nowMs;
}

async function systemPolls(client: Client): Promise<Times> {
  const { pollers } = await client.withDeadline(Date.now() + ASK_LIMIT_MS, () =>
    client.workflowService.describeTaskQueue({
      namespace: client.options.namespace,
      taskQueue: { name: SYSTEM_QUEUE },
      taskQueueType: proto.temporal.api.enums.v1.TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
    }),
  );
  return TIMES.describeTaskQueue({ pollers });
}

/** A time of Temporal in milliseconds since 1970, or a duration in milliseconds. */
export function timestampMs({ seconds, nanos }: Timestamp): number {
  return Number(seconds ?? 0) * 1_000 + (nanos ?? 0) / 1_000_000;
}

function localOffsetMs(): number {
  return Date.now() - performance.now();
}
