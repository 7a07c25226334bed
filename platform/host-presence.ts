/** Presence of a host's workers: when one last polled Temporal. */
import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { hostTaskQueue } from '../pipelines/run.js';

const { TaskQueueType } = proto.temporal.api.enums.v1;
const QUEUE_TYPES = {
  workflows: TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
  activities: TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
};

/** Deadline of one call to Temporal, in milliseconds. */
const CALL_LIMIT_MS = 5_000;

/** Interval between polls of an idle worker, in milliseconds: a minute, with a margin. */
export const POLL_INTERVAL_MS = 70_000;

/** A poller of a task queue. */
export interface Poller {
  /** Identity of the worker process. */
  identity: string;
  /** Time of the last poll. */
  polledAt: Date;
}

/** Workers that have polled a queue within the last five minutes, latest poll first. */
export async function pollersOf(
  client: Client,
  queue: string,
  work: 'workflows' | 'activities' = 'activities',
): Promise<Poller[]> {
  const { pollers } = await client.withDeadline(Date.now() + CALL_LIMIT_MS, () =>
    client.workflowService.describeTaskQueue({
      namespace: client.options.namespace,
      taskQueue: { name: queue },
      taskQueueType: QUEUE_TYPES[work],
    }),
  );
  return (pollers ?? [])
    .map(({ identity, lastAccessTime }) => ({
      identity: identity ?? '',
      polledAt: new Date(Number(lastAccessTime?.seconds ?? 0) * 1000),
    }))
    .sort((one, other) => other.polledAt.getTime() - one.polledAt.getTime());
}

/** Identity of a worker process: `123@buildbox-3f9c0a12b4`. */
export function workerIdentity(host: string): string {
  return `${process.pid}@${host}`;
}

/** The host in a worker's identity; undefined for other programs' workers. */
export function hostInIdentity(identity: string): string | undefined {
  return /^\d+@(.*-[0-9a-f]{10})$/.exec(identity)?.[1];
}

/** When a worker of the host last polled; undefined when that was over five minutes ago. */
export async function lastSeen(client: Client, taskQueue: string, host: string): Promise<Date | undefined> {
  const [latest] = await pollersOf(client, hostTaskQueue(taskQueue, host));
  return latest?.polledAt;
}

/** The host whose queue this is, among the hosts of a task queue; undefined for any other queue. */
export function hostOfQueue(taskQueue: string, queue: string): string | undefined {
  const prefix = hostTaskQueue(taskQueue, '');
  return queue.startsWith(prefix) ? queue.slice(prefix.length).replace(/:steps$/, '') : undefined;
}
