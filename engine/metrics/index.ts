/** Gauges of what Temporal knows about the task queue, the same on every server. Each scrape starts the reads for the next one. */
import { Background } from '../../platform/observe/metrics/background.js';
import { gauge, onScrape } from '../../platform/observe/metrics/index.js';
import type { Engine } from '../index.js';
import { readOpenOperations, type OpenOperations } from './open-operations.js';
import { QueueReader, type QueueReadings } from './task-queues.js';
import { reportDeployment, type VersionReport } from '../../platform/temporal/deployment-report.js';
import type { TemporalClient } from '../temporal/client.js';

/** Least intervals between reads, in milliseconds. */
const OPEN_INTERVAL_MS = 30_000;
const QUEUES_INTERVAL_MS = 15_000;
const BUILDS_INTERVAL_MS = 60_000;
/** Time per counting call to visibility, on average, in milliseconds. */
const MS_PER_COUNT = 1_000;

/** @returns a function that removes them */
export function registerEngineGauges(engine: Engine): () => void {
  const { temporal } = engine;
  const open = new Background<OpenOperations>(countingIntervalMs, () =>
    readOpenOperations(temporal, engine.tools.keys()),
  );
  const queueReader = new QueueReader(temporal);
  const queues = new Background<QueueReadings>(QUEUES_INTERVAL_MS, () => queueReader.read());
  const builds = new Background<VersionReport[]>(BUILDS_INTERVAL_MS, () => readBuilds(temporal));
  const ofQueues = (value: (queue: QueueReadings['queues'][number]) => number | undefined) =>
    queues.map(({ queues: all }) =>
      all.flatMap((queue): [{ task_queue: string; type: string }, number][] => {
        const { taskQueue, type } = queue;
        const number = value(queue);
        return number === undefined ? [] : [[{ task_queue: taskQueue, type }, number]];
      }),
    );
  const ends = [
    onScrape(() => {
      if (temporal.isConnected) for (const one of [open, queues, builds]) one.refresh();
    }),
    gauge('longhaul_operations_open', () =>
      open.map(({ counts }) => counts.map(({ tool, status, count }) => [{ tool, status }, count])),
    ),
    gauge('longhaul_questions_open', () => open.map(({ questions }) => [[{}, questions.count]])),
    gauge('longhaul_question_oldest_age_seconds', () =>
      open.map(({ questions: { oldestSinceMs } }) => [[{}, secondsFrom(oldestSinceMs, temporal.time.nowMs)]]),
    ),
    gauge('longhaul_task_queue_backlog', () => ofQueues(({ backlog }) => backlog?.count)),
    gauge('longhaul_task_queue_backlog_age_seconds', () => ofQueues(({ backlog }) => backlog?.ageSeconds)),
    gauge('longhaul_task_queue_pollers', () => ofQueues(({ pollers }) => pollers)),
    gauge('longhaul_host_last_seen_timestamp_seconds', () =>
      queues.map(({ hosts }) => [...hosts].map(([host, seenMs]) => [{ host }, seenMs / 1_000])),
    ),
    gauge('longhaul_build_open_operations', () =>
      builds.map((all) =>
        all.map(({ buildId: build, status, isPolled, openOperations }) => [
          { build, status, polled: isPolled ? 'yes' : 'no' },
          openOperations,
        ]),
      ),
    ),
    gauge('longhaul_watched_operations', () => [[{}, engine.watchCounts.operations]]),
    gauge('longhaul_history_polls_open', () => [[{}, engine.watchCounts.polls]]),
    gauge('longhaul_visibility_calls_waiting', () => [[{}, temporal.waitingVisibilityCount]]),
  ];
  return () => ends.forEach((end) => end());
}

/** Least interval between reads that take this many calls to visibility, in milliseconds. */
export function countingIntervalMs({ callCount }: { callCount: number }): number {
  return Math.max(OPEN_INTERVAL_MS, callCount * MS_PER_COUNT);
}

/** Takes epoch milliseconds of Temporal's clock; 0 without a beginning. */
export function secondsFrom(sinceMs: number | undefined, nowMs: number): number {
  return sinceMs === undefined ? 0 : Math.max(0, (nowMs - sinceMs) / 1_000);
}

/** Deadline of the report, in milliseconds; it takes several calls. */
const DEADLINE_MS = 10_000;

/** Builds that take new operations or that open ones need; empty without Worker Deployments. @throws LonghaulError `unavailable` */
async function readBuilds(temporal: TemporalClient): Promise<VersionReport[]> {
  const { versions } = await temporal.callVisibility(
    'metrics',
    (client) => reportDeployment(client, temporal.taskQueue),
    DEADLINE_MS,
  );
  return versions.filter(
    ({ status, openOperations }) => openOperations > 0 || status === 'current' || status === 'ramping',
  );
}
