/**
 * The Workers of one process. Two poll the shared task queue: one runs workflows, which can be replaced while activities run,
 * the other activities. Two poll task queues of this host: steps of pipelines have their own, so that waiting steps don't
 * block access to the host's files.
 */
import { Worker, type WorkerOptions } from '@temporalio/worker';
import { hostId } from '../activities/pipeline/host.js';
import { hostTaskQueue, stepTaskQueue } from '../pipelines/run.js';
import type { Settings } from '../platform/config.js';
import type { Tuning } from './tuning.js';

/** How long running activities get to end when the worker stops, in milliseconds; then they are cancelled. */
const SHUTDOWN_GRACE_MS = 5_000;

/** Maximum number of open polls for steps. */
const STEP_POLLS = 2;

/** Options that all Workers share. */
export type SharedOptions = Omit<WorkerOptions, 'taskQueue' | 'workflowBundle'>;

/** The Workers that run activities. */
export async function createActivityWorkers(
  { home, taskQueue, maxSteps, heartbeatSeconds }: Settings,
  { activities }: Tuning,
  shared: SharedOptions,
): Promise<Worker[]> {
  const common: SharedOptions = {
    ...shared,
    shutdownGraceTime: SHUTDOWN_GRACE_MS,
    // The SDK sends one after 80 % of the activity's heartbeat time-out, if that is sooner.
    maxHeartbeatThrottleInterval: heartbeatSeconds * 1_000,
    defaultHeartbeatThrottleInterval: heartbeatSeconds * 1_000,
  };
  const host = hostId(home);
  return Promise.all([
    Worker.create({ ...common, ...activities, taskQueue }),
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
  { taskQueue }: Settings,
  { workflows }: Tuning,
  codePath: string,
  shared: SharedOptions,
): Promise<Worker> {
  return Worker.create({
    ...shared,
    ...workflows,
    taskQueue,
    workflowBundle: { codePath },
    enableNonLocalActivities: false,
    shutdownGraceTime: SHUTDOWN_GRACE_MS,
  });
}
