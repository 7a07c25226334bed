/** Worker options that the settings decide for the shared task queue: slots, pollers, rates, cache and sticky queue. */
import { ResourceBasedController, type WorkerOptions } from '@temporalio/worker';
import { defined } from '../operations/defined.js';
import { DEFAULT_SLOTS, workflowTaskSlots, type WorkerSettings } from '../platform/settings/worker.js';

export interface Tuning {
  workflows: Partial<WorkerOptions>;
  activities: Partial<WorkerOptions>;
}

/** @throws IllegalStateError when targets are set and Temporal's runtime isn't installed yet */
export function tuningOf(settings: WorkerSettings): Tuning {
  const { targetCpuUsage, targetMemoryUsage } = settings;
  const controller =
    targetCpuUsage === undefined || targetMemoryUsage === undefined
      ? undefined
      : ResourceBasedController.create({ targetCpuUsage, targetMemoryUsage });
  return {
    workflows: {
      ...workflowSlots(settings, controller),
      maxCachedWorkflows: settings.maxCachedWorkflows,
      stickyQueueScheduleToStartTimeout: settings.stickyQueueScheduleToStartTimeoutSeconds * 1_000,
    },
    activities: {
      ...activitySlots(settings, controller),
      ...defined({ maxTaskQueueActivitiesPerSecond: settings.maxTaskQueueActivitiesPerSecond }),
    },
  };
}

function workflowSlots(
  settings: WorkerSettings,
  controller: ResourceBasedController | undefined,
): Partial<WorkerOptions> {
  const { maxCachedWorkflows, maxConcurrentWorkflowTaskExecutions } = settings;
  if (!controller) {
    return {
      maxConcurrentWorkflowTaskExecutions: workflowTaskSlots(settings),
      maxConcurrentLocalActivityExecutions: DEFAULT_SLOTS.localActivities,
    };
  }
  const maximumSlots = maxConcurrentWorkflowTaskExecutions ?? maxCachedWorkflows;
  return {
    tuner: { controller, workflowTaskSlotOptions: { maximumSlots } },
  };
}

function activitySlots(
  { maxConcurrentActivityTaskExecutions }: WorkerSettings,
  controller: ResourceBasedController | undefined,
): Partial<WorkerOptions> {
  if (!controller) {
    return {
      maxConcurrentActivityTaskExecutions: maxConcurrentActivityTaskExecutions ?? DEFAULT_SLOTS.activityTasks,
    };
  }
  const activityTaskSlotOptions = defined({ maximumSlots: maxConcurrentActivityTaskExecutions });
  return { tuner: { controller, activityTaskSlotOptions } };
}
