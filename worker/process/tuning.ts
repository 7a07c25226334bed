/** Worker options that the settings decide for the shared task queue: slots, pollers, rates, cache and sticky queue. */
import { ResourceBasedController, type WorkerOptions } from '@temporalio/worker';
import { defined } from '../../operations/json/defined.js';
import type { Settings } from '../../platform/settings/index.js';

/** The SDK's defaults, which Longhaul keeps. */
const DEFAULT_SLOTS = { workflowTasks: 40, activityTasks: 100, localActivities: 100 } as const;

/** Settings with the names of the SDK's options. */
type WorkerSettings = Pick<
  Settings,
  | 'maxCachedWorkflows'
  | 'maxConcurrentActivityTaskExecutions'
  | 'targetCpuUsage'
  | 'targetMemoryUsage'
  | 'maxTaskQueueActivitiesPerSecond'
  | 'stickyQueueScheduleToStartTimeoutSeconds'
>;

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

/** A cached workflow has one workflow task at a time. */
function workflowSlots(
  { maxCachedWorkflows }: WorkerSettings,
  controller: ResourceBasedController | undefined,
): Partial<WorkerOptions> {
  if (controller)
    return { tuner: { controller, workflowTaskSlotOptions: { maximumSlots: maxCachedWorkflows } } };
  return {
    maxConcurrentWorkflowTaskExecutions: Math.min(DEFAULT_SLOTS.workflowTasks, maxCachedWorkflows),
    maxConcurrentLocalActivityExecutions: DEFAULT_SLOTS.localActivities,
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
