/**
 * Temporal's clock. Its times, such as those of a worker's last poll, can't be compared with the local clock, which may differ by
 * hours. No call returns the time, so it is read from a poll of this process: Temporal notes when each poll came.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';

const { TaskQueueKind, TaskQueueType } = proto.temporal.api.enums.v1;

/** Deadline of a reading, in milliseconds. */
const READING_LIMIT_MS = 1_000;
/** Pause until a poll that Temporal has not noted yet is looked for again, in milliseconds. */
const LOOK_INTERVAL_MS = 10;
/** How long a reading is used, in milliseconds: Temporal's clock may be set. */
const FRESH_MS = 60_000;
/** Pause after a failed reading, in milliseconds. */
const RETRY_MS = 5_000;

/** A time of Temporal, `Timestamp` of its API. */
interface Timestamp {
  seconds?: unknown;
  nanos?: number | null;
}

interface Clock {
  /** Temporal's time less `performance.now()`, in milliseconds; undefined until a reading succeeds. */
  offsetMs?: number;
  /** When to read it again, by `performance.now()`. */
  dueMs: number;
  reading?: Promise<void>;
}

const clocks = new WeakMap<Client, Clock>();

/**
 * Time of Temporal's clock, in milliseconds since 1970. A first call reads it, and one a minute later; the others take it from the
 * monotonic clock. Where Temporal can't be polled, for example with credentials that only allow reads, it is the local time.
 *
 * @param taskQueue any queue that workers poll
 */
export async function temporalNowMs(client: Client, taskQueue: string): Promise<number> {
  const clock = clocks.get(client) ?? { dueMs: 0 };
  clocks.set(client, clock);
  if (performance.now() >= clock.dueMs)
    await (clock.reading ??= read(client, taskQueue)
      .then(
        (offsetMs) => Object.assign(clock, { offsetMs, dueMs: performance.now() + FRESH_MS }),
        () => (clock.dueMs = performance.now() + RETRY_MS),
      )
      .then(() => delete clock.reading)
      .then(() => undefined));
  return clock.offsetMs === undefined ? Date.now() : performance.now() + clock.offsetMs;
}

/** A time of Temporal in milliseconds since 1970. */
export function timestampMs({ seconds, nanos }: Timestamp): number {
  return Number(seconds ?? 0) * 1_000 + (nanos ?? 0) / 1_000_000;
}

/**
 * Polls a sticky queue that gets no tasks, until Temporal names the poll with its time. Unlike others, a sticky queue is one partition
 * and is removed by Temporal after a day.
 */
async function read(client: Client, normalName: string): Promise<number> {
  const { namespace } = client.options;
  const identity = randomUUID();
  const taskQueue = {
    name: `${normalName}:clock`,
    kind: TaskQueueKind.TASK_QUEUE_KIND_STICKY,
    normalName,
  };
  const stop = new AbortController();
  const deadlineMs = performance.now() + READING_LIMIT_MS;
  const sentMs = performance.now();
  let failure: Error | undefined;
  client
    // Temporal refuses polls with shorter deadlines.
    .withDeadline(Date.now() + 10 * READING_LIMIT_MS, () =>
      client.withAbortSignal(stop.signal, () =>
        client.workflowService.pollWorkflowTaskQueue({ namespace, taskQueue, identity }),
      ),
    )
    .catch((error: unknown) => (failure = error as Error));
  try {
    for (;;) {
      const { pollers } = await client.withDeadline(Date.now() + READING_LIMIT_MS, () =>
        client.workflowService.describeTaskQueue({
          namespace,
          taskQueue,
          taskQueueType: TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
        }),
      );
      const own = pollers?.find((poller) => poller.identity === identity);
      if (own?.lastAccessTime) return timestampMs(own.lastAccessTime) - sentMs;
      if (failure !== undefined) throw failure;
      if (performance.now() > deadlineMs) throw new Error('Temporal has not noted the poll in time');
      await delay(LOOK_INTERVAL_MS);
    }
  } finally {
    stop.abort();
  }
}
