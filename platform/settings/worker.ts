/** Settings of Temporal's Worker, named like the options of Temporal's SDK: contradictions, and slots. */
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

/** Slots for workflow tasks: a cached workflow has one workflow task at a time. */
export function workflowTaskSlots(settings: WorkerSettings): number {
  return (
    settings.maxConcurrentWorkflowTaskExecutions ??
    Math.min(DEFAULT_SLOTS.workflowTasks, settings.maxCachedWorkflows)
  );
}

export interface Contradiction {
  name: SettingName;
  /** Condition that the value doesn't meet. */
  expected: string;
  other: SettingName;
  otherValue?: number;
}

/** The first contradiction among settings that are valid one by one. */
export function contradictionOf(settings: WorkerSettings): Contradiction | undefined {
  const { targetCpuUsage, targetMemoryUsage, maxCachedWorkflows, maxConcurrentWorkflowTaskExecutions } =
    settings;
  if (targetCpuUsage !== undefined && targetMemoryUsage === undefined)
    return {
      name: 'targetCpuUsage',
      expected: 'a target memory usage beside it',
      other: 'targetMemoryUsage',
    };
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
