/** The task queues of Longhaul's workers, with backlogs and hosts. */
import { hostTaskQueue, placementTaskQueue, stepTaskQueue } from '../../pipelines/run.js';
import { describeQueue, hostsIn, isPolling, type QueueWork } from '../../platform/temporal/host-presence.js';
import type { TemporalClient } from '../temporal/client.js';

const DEADLINE_MS = 5_000;
/** Maximum number of hosts, and how long a gone host stays on the page, in milliseconds: a day. */
const MAX_HOSTS = 100;
const GONE_MS = 24 * 3600_000;

interface QueueReading {
  taskQueue: string;
  type: 'workflow' | 'activity';
  pollers: number;
  /** Undefined if this Temporal doesn't count tasks. */
  backlog: { count: number; ageSeconds: number } | undefined;
}

export interface QueueReadings {
  queues: QueueReading[];
  /** Host -> latest poll of its workers, in epoch milliseconds. */
  hosts: Map<string, number>;
}

export class QueueReader {
  /** Hosts that this process has seen. Temporal forgets a poller after five minutes. */
  readonly #seen = new Map<string, number>();

  constructor(private readonly temporal: TemporalClient) {}

  /** @throws LonghaulError `unavailable` */
  async read(): Promise<QueueReadings> {
    const { taskQueue } = this.temporal;
    const [workflows, activities, placement] = await Promise.all([
      this.#describe(taskQueue, 'workflows'),
      this.#describe(taskQueue, 'activities'),
      this.#describe(placementTaskQueue(taskQueue), 'activities'),
    ]);
    for (const host of hostsIn(placement.pollers))
      if (this.#seen.has(host) || this.#seen.size < MAX_HOSTS)
        this.#seen.set(host, this.#seen.get(host) ?? 0);
    const ofHosts: QueueReading[] = [];
    for (const host of [...this.#seen.keys()]) {
      const [files, steps] = await Promise.all([
        this.#describe(hostTaskQueue(taskQueue, host), 'activities'),
        this.#describe(stepTaskQueue(taskQueue, host), 'activities'),
      ]);
      const seenMs = Math.max(files.seenMs, this.#seen.get(host)!);
      if (this.temporal.time.nowMs - seenMs > GONE_MS) this.#seen.delete(host);
      else {
        this.#seen.set(host, seenMs);
        ofHosts.push(files.reading, steps.reading);
      }
    }
    return {
      queues: [workflows.reading, activities.reading, placement.reading, ...ofHosts],
      hosts: new Map([...this.#seen].filter(([, seenMs]) => seenMs > 0)),
    };
  }

  async #describe(taskQueue: string, work: QueueWork) {
    const { pollers, backlog } = await this.temporal.call(
      (client) => describeQueue(client, taskQueue, work, true),
      DEADLINE_MS,
    );
    const reading: QueueReading = {
      taskQueue,
      type: work === 'workflows' ? 'workflow' : 'activity',
      pollers: pollers.filter(isPolling).length,
      backlog,
    };
    return { reading, pollers, seenMs: pollers[0]?.polledAt.getTime() ?? 0 };
  }
}
