/** Settings of Temporal's Worker: those that contradict each other, and slots. They are named like the options of Temporal's SDK. */
import type { SettingName, Settings } from './table.js';

/** The SDK's defaults, which Longhaul keeps. */
export const DEFAULT_SLOTS = { workflowTasks: 40, activityTasks: 100, localActivities: 100 } as const;

export type WorkerSettings = Pick<
  Settings,
  | 'maxCachedWorkflows'
  | 'maxConcurrentWorkflowTaskExecutions'
  | 'maxConcurrentActivityTaskExecutions'
  | 'targetCpuUsage'
  | 'targetMemoryUsage'
  | 'maxTaskQueueActivitiesPerSecond'
  | 'stickyQueueScheduleToStartTimeoutSeconds'
>;

/** Number of slots for workflow tasks: a cached workflow has one workflow task at a time. */
export function workflowTaskSlots(settings: WorkerSettings): number {
  return (
    settings.maxConcurrentWorkflowTaskExecutions ??
    Math.min(DEFAULT_SLOTS.workflowTasks, settings.maxCachedWorkflows)
  );
}

/** A setting that contradicts another one. */
export interface Contradiction {
  name: SettingName;
  /** Condition that the value doesn't meet. */
  expected: string;
  other: SettingName;
  /** The other setting's value, if it has one. */
  otherValue?: number;
}

/** The first contradiction among settings that are valid one by one. */
export function contradictionOf(settings: WorkerSettings): Contradiction | undefined {
  const { targetCpuUsage, targetMemoryUsage, maxCachedWorkflows, maxConcurrentWorkflowTaskExecutions } = settings;
  if (targetCpuUsage !== undefined && targetMemoryUsage === undefined)
    return { name: 'targetCpuUsage', expected: 'a target memory usage beside it', other: 'targetMemoryUsage' };
  if (targetCpuUsage === undefined && targetMemoryUsage !== undefined)
    return { name: 'targetMemoryUsage', expected: 'a target CPU usage beside it', other: 'targetCpuUsage' };
  if ((maxConcurrentWorkflowTaskExecutions ?? 0) > maxCachedWorkflows)
    return {
      name: 'maxConcurrentWorkflowTaskExecutions',
      expected: 'at most as many as cached workflows',
      other: 'maxCachedWorkflows',
      otherValue: maxCachedWorkflows,
    };
  return undefined;
}
