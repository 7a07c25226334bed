/** Presence of a host's workers: when one last polled Temporal. */
import { createHash } from 'node:crypto';
import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { defined } from '../../operations/json/defined.js';
import { hostTaskQueue } from '../../pipelines/run.js';
import { bootId, processIdentity } from '../home/process-identity.js';
import { versionIn, type DeploymentVersion } from './deployments.js';
import { temporalNowMs, timestampMs } from './time.js';

const { TaskQueueType, WorkerVersioningMode } = proto.temporal.api.enums.v1;
const QUEUE_TYPES = {
  workflows: TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
  activities: TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
};

const CALL_LIMIT_MS = 5_000;

/** Interval between polls of an idle worker: a minute, with a margin. */
export const POLL_INTERVAL_MS = 70_000;

/** If a task waits and the latest poll is older, no worker takes workflow tasks. */
export const JUST_POLLED_MS = 5_000;

export interface Poller {
  identity: string;
  /** Time of the last poll, by Temporal's clock. Use {@link sincePollMs} for its age. */
  polledAt: Date;
  /** The same by `performance.now()` of this process. */
  polledMs: number;
  /** Missing for an unversioned worker. */
  deploymentName?: string;
  buildId?: string;
}

export type QueueWork = keyof typeof QUEUE_TYPES;

export interface QueueState {
  /** Workers that polled within the last five minutes, latest poll first. */
  pollers: Poller[];
  /** Version for work without a fixed one; undefined if none is current. */
  current?: DeploymentVersion;
  /** Approximate waiting tasks; only on request, and if this Temporal counts them. */
  backlog?: { count: number; ageSeconds: number };
}

/** Describes a task queue: its pollers and its current build. @param countsBacklog also count waiting tasks. Default: false */
export async function describeQueue(
  client: Client,
  queue: string,
  work: QueueWork,
  countsBacklog = false,
): Promise<QueueState> {
  const { pollers, versioningInfo, stats } = await client.withDeadline(Date.now() + CALL_LIMIT_MS, () =>
    client.workflowService.describeTaskQueue({
      namespace: client.options.namespace,
      taskQueue: { name: queue },
      taskQueueType: QUEUE_TYPES[work],
      reportStats: countsBacklog,
    }),
  );
  // Read the time after the call, which fails first if Temporal doesn't answer.
  const nowMs = pollers?.length ? await temporalNowMs(client) : 0;
  const offsetMs = nowMs - performance.now();
  const isVersioned = WorkerVersioningMode.WORKER_VERSIONING_MODE_VERSIONED;
  return {
    pollers: (pollers ?? [])
      .map(({ identity, lastAccessTime, deploymentOptions: options }) => {
        const polledAtMs = timestampMs(lastAccessTime ?? {});
        return {
          identity: identity ?? '',
          polledAt: new Date(polledAtMs),
          polledMs: polledAtMs - offsetMs,
          ...(options?.workerVersioningMode === isVersioned
            ? defined({
                deploymentName: options.deploymentName ?? undefined,
                buildId: options.buildId ?? undefined,
              })
            : {}),
        };
      })
      .sort((one, other) => other.polledAt.getTime() - one.polledAt.getTime()),
    ...defined({ current: versionIn(versioningInfo?.currentDeploymentVersion) }),
    ...(stats
      ? {
          backlog: {
            count: Number(stats.approximateBacklogCount ?? 0),
            ageSeconds: timestampMs(stats.approximateBacklogAge ?? {}) / 1_000,
          },
        }
      : {}),
  };
}

/** Workers that polled a queue within the last five minutes, latest poll first. */
export async function pollersOf(
  client: Client,
  queue: string,
  work: QueueWork = 'activities',
): Promise<Poller[]> {
  return (await describeQueue(client, queue, work)).pollers;
}

/** Least time since a worker's last poll, in milliseconds. A process that just connected may count up to a minute less. */
export function sincePollMs({ polledMs }: Poller): number {
  return Math.max(0, performance.now() - polledMs);
}

/** Whether a worker seems to be polling: an idle one polls once in {@link POLL_INTERVAL_MS}. */
export function isPolling(poller: Poller): boolean {
  return sincePollMs(poller) < POLL_INTERVAL_MS;
}

/** Whether a worker polls like a busy one: as soon as a slot is free. */
export function hasJustPolled(poller: Poller): boolean {
  return sincePollMs(poller) < JUST_POLLED_MS;
}

/** Identity of a worker process: `123@buildbox-3f9c0a12b4;process=5be0f3a86d;storage=0c51d7e2aa`. */
export function workerIdentity(host: string, storageId: string | undefined): string {
  const storage = storageId === undefined ? '' : `;storage=${storageId}`;
  return `${process.pid}@${host};process=${processDigest(process.pid)}${storage}`;
}

/** ID of a worker's storage; undefined if unknown, and for other programs' workers. */
export function storageInIdentity(identity: string): string | undefined {
  return fieldOf(identity, 'storage');
}

/** The host in a worker's identity; undefined for other programs' workers. */
export function hostInIdentity(identity: string): string | undefined {
  return WORKER.exec(identity)?.[2];
}

/** Whether a worker of this host has ended; false if unknown. PIDs aren't enough: containers share them, and reboots reuse them. */
export function hasEndedHere(identity: string, host: string): boolean {
  const [, pid, hostOfWorker] = WORKER.exec(identity) ?? [];
  const digest = fieldOf(identity, 'process');
  return hostOfWorker === host && digest !== undefined && processDigest(Number(pid)) !== digest;
}

const WORKER = /^(\d+)@([^;]*-[0-9a-f]{10})(?:;|$)/;

function fieldOf(identity: string, name: string): string | undefined {
  const prefix = `${name}=`;
  return identity
    .split(';')
    .find((field) => field.startsWith(prefix))
    ?.slice(prefix.length);
}

/** Differs between two processes with the same PID, also across boots; undefined when the process doesn't exist. */
function processDigest(pid: number): string | undefined {
  const startedAt = processIdentity(pid)?.startedAt;
  if (startedAt === undefined) return undefined;
  return createHash('sha256').update(`${bootId()} ${pid} ${startedAt}`).digest('hex').slice(0, 10);
}

/** The workers' hosts, without duplicates. @param pollers of the queue that places jobs on hosts */
export function hostsIn(pollers: readonly Poller[]): Set<string> {
  const hosts = pollers.map(({ identity }) => hostInIdentity(identity));
  return new Set(hosts.filter((host) => host !== undefined));
}

/** When a worker of the host last polled, by Temporal's clock; undefined after five minutes. */
export async function lastSeen(client: Client, taskQueue: string, host: string): Promise<Date | undefined> {
  const [latest] = await pollersOf(client, hostTaskQueue(taskQueue, host));
  return latest?.polledAt;
}

/** The host that a queue belongs to, within a task queue; undefined for any other queue. */
export function hostOfQueue(taskQueue: string, queue: string): string | undefined {
  const prefix = hostTaskQueue(taskQueue, '');
  return queue.startsWith(prefix) ? queue.slice(prefix.length).replace(/:steps$/, '') : undefined;
}
