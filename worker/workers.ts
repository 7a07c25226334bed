/**
 * The Workers of one process: two for the shared task queue, one for its workflows and one for its activities, so that
 * workflows can be replaced while activities run, and two for what only this host can do. Steps of pipelines have a queue of their own, so that as many run at once as the host takes while its files stay
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

/** What all Workers have in common. */
export type SharedOptions = Omit<WorkerOptions, 'taskQueue' | 'workflowBundle'>;

/** The Workers that run activities. */
export async function createActivityWorkers(
  { home, taskQueue, maxSteps }: Pick<Settings, 'home' | 'taskQueue' | 'maxSteps'>,
  shared: SharedOptions,
): Promise<Worker[]> {
  const common: SharedOptions = {
    ...shared,
    shutdownGraceTime: SHUTDOWN_GRACE_MS,
    // Reports reach Temporal at most once a second, and at least that often while there is something new.
    maxHeartbeatThrottleInterval: '1s',
    defaultHeartbeatThrottleInterval: '1s',
  };
  const host = hostId(home);
  return Promise.all([
    Worker.create({ ...common, taskQueue }),
    Worker.create({ ...common, taskQueue: hostTaskQueue(taskQueue, host) }),
    Worker.create({
      ...common,
      taskQueue: stepTaskQueue(taskQueue, host),
      maxConcurrentActivityTaskExecutions: maxSteps,
      maxConcurrentActivityTaskPolls: Math.min(maxSteps, STEP_POLLS),
    }),
  ]);
}

/** The Worker that runs workflows and their local activities: it ends within moments, whatever activities run. */
export function createWorkflowWorker(
  { taskQueue }: Pick<Settings, 'taskQueue'>,
  codePath: string,
  shared: SharedOptions,
): Promise<Worker> {
  return Worker.create({
    ...shared,
    taskQueue,
    workflowBundle: { codePath },
    enableNonLocalActivities: false,
    shutdownGraceTime: SHUTDOWN_GRACE_MS,
    // After a worker was killed, its sticky queue delays the next one by this much.
    stickyQueueScheduleToStartTimeout: '2s',
  });
}
