/**
 * The Workers of one process, on one connection: one for the shared task queue, and two for what only this host can
 * do. Steps of pipelines have a queue of their own, so that as many run at once as the host takes while its files stay
 * within reach.
 */
import { Worker, type WorkerOptions } from '@temporalio/worker';
import { hostId } from '../activities/pipeline/host.js';
import { hostTaskQueue, stepTaskQueue } from '../pipelines/run.js';
import type { Settings } from '../platform/config.js';

/** How long running activities get to end when the worker stops, in milliseconds; then they are cancelled. */
const SHUTDOWN_GRACE_MS = 5_000;

/** How many polls for steps are open at most. */
const STEP_POLLS = 2;

/** @param shared all that the Workers have in common, and the workflows of the shared task queue */
export async function createWorkers(
  { home, taskQueue, maxSteps }: Pick<Settings, 'home' | 'taskQueue' | 'maxSteps'>,
  shared: Omit<WorkerOptions, 'taskQueue'>,
): Promise<Worker[]> {
  const { workflowBundle, ...activitiesOnly } = shared;
  const common: Omit<WorkerOptions, 'taskQueue'> = {
    ...activitiesOnly,
    shutdownGraceTime: SHUTDOWN_GRACE_MS,
    // Reports reach Temporal at most once a second, and at least that often while there is something new.
    maxHeartbeatThrottleInterval: '1s',
    defaultHeartbeatThrottleInterval: '1s',
  };
  const host = hostId(home);
  return Promise.all([
    Worker.create({
      ...common,
      taskQueue,
      ...(workflowBundle ? { workflowBundle } : {}),
      // After a worker was killed, its sticky queue delays the next one by this much.
      stickyQueueScheduleToStartTimeout: '2s',
    }),
    Worker.create({ ...common, taskQueue: hostTaskQueue(taskQueue, host) }),
    Worker.create({
      ...common,
      taskQueue: stepTaskQueue(taskQueue, host),
      maxConcurrentActivityTaskExecutions: maxSteps,
      maxConcurrentActivityTaskPolls: Math.min(maxSteps, STEP_POLLS),
    }),
  ]);
}
