/** Options of the Workers on the shared task queue that the settings decide: slots, pollers, rates, cache and sticky queue. */
import { ResourceBasedController, type WorkerOptions } from '@temporalio/worker';
import { defined } from '../operations/defined.js';
import { parsePollerBehavior, type PollerBehavior } from '../platform/poller-behavior.js';
import { DEFAULT_SLOTS, workflowTaskSlots, type WorkerSettings } from '../platform/worker-settings.js';

/** The SDK's default number of open polls. */
const DEFAULT_POLLS = 10;

export interface Tuning {
  /** Options of the Worker that runs workflows. */
  workflows: Partial<WorkerOptions>;
  /** Options of the Worker that runs activities. */
  activities: Partial<WorkerOptions>;
}

/**
 * Options for the settings. Where targets are set, both Workers share one resource-based controller.
 *
 * @throws IllegalStateError when the targets are set and Temporal's runtime isn't installed yet
 */
export function tuningOf(settings: WorkerSettings): Tuning {
  const { targetCpuUsage, targetMemoryUsage } = settings;
  const controller =
    targetCpuUsage === undefined || targetMemoryUsage === undefined
      ? undefined
      : ResourceBasedController.create({ targetCpuUsage, targetMemoryUsage });
  return {
    workflows: {
      ...workflowSlots(settings, controller),
      ...defined({
        workflowTaskPollerBehavior: parsePollerBehavior(settings.workflowTaskPollerBehavior ?? ''),
      }),
      maxCachedWorkflows: settings.maxCachedWorkflows,
      stickyQueueScheduleToStartTimeout: settings.stickyQueueScheduleToStartTimeoutSeconds * 1_000,
    },
    activities: {
      ...activitySlots(settings, controller),
      ...defined({
        activityTaskPollerBehavior: activityPollers(settings),
        maxActivitiesPerSecond: settings.maxActivitiesPerSecond,
        maxTaskQueueActivitiesPerSecond: settings.maxTaskQueueActivitiesPerSecond,
      }),
    },
  };
}

function workflowSlots(
  settings: WorkerSettings,
  controller: ResourceBasedController | undefined,
): Partial<WorkerOptions> {
  const { maxCachedWorkflows, maxConcurrentWorkflowTaskExecutions, maxConcurrentLocalActivityExecutions } =
    settings;
  if (!controller) {
    return {
      maxConcurrentWorkflowTaskExecutions: workflowTaskSlots(settings),
      maxConcurrentLocalActivityExecutions:
        maxConcurrentLocalActivityExecutions ?? DEFAULT_SLOTS.localActivities,
    };
  }
  const maximumSlots = maxConcurrentWorkflowTaskExecutions ?? maxCachedWorkflows;
  return {
    tuner: {
      controller,
      workflowTaskSlotOptions: { maximumSlots },
      localActivityTaskSlotOptions: defined({ maximumSlots: maxConcurrentLocalActivityExecutions }),
    },
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

/**
 * The SDK keeps to `maxActivitiesPerSecond` by the rate of its polls, and each open poll may get an activity at any time: so
 * there are no more open polls than activities in a second, unless their number is set.
 */
function activityPollers({
  activityTaskPollerBehavior,
  maxActivitiesPerSecond,
}: WorkerSettings): PollerBehavior | undefined {
  if (activityTaskPollerBehavior !== undefined) return parsePollerBehavior(activityTaskPollerBehavior);
  if (maxActivitiesPerSecond === undefined || maxActivitiesPerSecond >= DEFAULT_POLLS) return undefined;
  return { type: 'simple-maximum', maximum: Math.ceil(maxActivitiesPerSecond) };
}
