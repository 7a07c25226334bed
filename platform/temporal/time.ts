/**
 * Temporal's time: the local clock may differ by hours, and no call returns Temporal's. So a process notes the newest time in
 * Temporal's answers, which is never ahead of Temporal, and continues it with the monotonic clock.
 */
import type { Client, ConnectionLike } from '@temporalio/client';
import proto from '@temporalio/proto';
import { withTimeout } from '../with-timeout.js';

/** Task queue of Temporal's own worker in each namespace. Its latest poll is at most a minute old, whatever other workers do. */
const SYSTEM_QUEUE = 'temporal-sys-per-ns-tq';
const ASK_LIMIT_MS = 1_000;
/** How long an answer counts as recent, and the pause after a failure. */
const RECENT_MS = 60_000;
const RETRY_MS = 5_000;
/** A time is forgotten after one to two of these windows, because Temporal's clock may be set back. */
const WINDOW_MS = 1_800_000;
/** A larger drift between the local and the monotonic clock shows that this host has slept. */
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

/** Times in Temporal's answers that are never ahead of Temporal. Leaves out timers, expirations and later attempts. */
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

/** Temporal's time, as one connection has heard it. */
export class TemporalTime {
  /** Temporal's time minus `performance.now()`: the newest of this window and of the one before. */
  #offsetMs = -Infinity;
  #offsetBeforeMs = -Infinity;
  #windowFromMs = performance.now();
  /** When to ask for a time, and until when the time is exact, by `performance.now()`. */
  #dueMs = 0;
  #exactUntilMs = -Infinity;
  #asking: Promise<void> | undefined;
  #localOffsetMs = localOffsetMs();

  /** Temporal's time now or somewhat earlier, in epoch milliseconds. The local time until something was heard. */
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

  /** Notes that a time just heard is later than the start of a call. */
  hasHeardNow(): void {
    this.#exactUntilMs = performance.now() + WINDOW_MS;
    this.#localOffsetMs = localOffsetMs();
  }

  /** Reads a time. Concurrent callers share the call. @param read resolves to times of polls */
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
 * Temporal's time now, in epoch milliseconds: never ahead, and at most a minute behind if Temporal lists its own worker. Asks at
 * most once a minute.
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

/** Converts a Temporal time to epoch milliseconds, or a duration to milliseconds. */
export function timestampMs({ seconds, nanos }: Timestamp): number {
  return Number(seconds ?? 0) * 1_000 + (nanos ?? 0) / 1_000_000;
}

function localOffsetMs(): number {
  return Date.now() - performance.now();
}
