/**
 * Settings of Temporal's Worker: its cache, slots, pollers, rates, sticky queue, versioning and drain. Named like the options of
 * Temporal's SDK, where it has them.
 */
import { z } from 'zod';
import { parsePollerBehavior } from './poller-behavior.js';
import { duration, yesOrNo } from './setting-types.js';

/** Memory of a worker for each cached workflow, in MB: measured, see docs/performance.md. */
export const MB_PER_CACHED_WORKFLOW = 0.3;

/** The SDK's defaults, which Longhaul keeps. */
export const DEFAULT_SLOTS = { workflowTasks: 40, activityTasks: 100, localActivities: 100 } as const;

/** Drain timeout under `longhaul up`, which gives its processes 8 s to end, in milliseconds. */
const SUPERVISED_DRAIN_TIMEOUT_MS = 5_000;
const DEFAULT_DRAIN_TIMEOUT_MS = 5 * 60_000;
const MAX_DRAIN_TIMEOUT_MS = 24 * 3600_000;

const MEMORY = /^(\d+(?:\.\d+)?) ?(MB|GB)$/i;

/** Number of workflows whose cached state takes this memory, for text such as `200MB`; other values unchanged. */
function cachedWorkflowsIn(value: unknown): unknown {
  const [, amount, unit] = (typeof value === 'string' && MEMORY.exec(value.trim())) || [];
  if (amount === undefined) return value;
  const mb = Number(amount) * (unit!.toUpperCase() === 'GB' ? 1_000 : 1);
  // Rounded, so that 0.6 MB are two workflows in spite of binary fractions.
  return Math.floor(Number((mb / MB_PER_CACHED_WORKFLOW).toFixed(6)));
}

const slots = (least: number) => z.coerce.number().int().min(least).max(10_000);
const usage = z.coerce.number().gt(0).max(1);
const perSecond = z.coerce.number().min(0.01).max(100_000);
const pollerBehavior = (least: number) =>
  z.preprocess(
    (value) => (typeof value === 'number' ? String(value) : value),
    z.string().refine((text) => {
      const behavior = parsePollerBehavior(text);
      return behavior && (behavior.type === 'autoscaling' || behavior.maximum >= least);
    }, `expected a number of polls from ${least} to 1000, or "autoscaling", with bounds such as "autoscaling:minimum=1,maximum=100,initial=5"`),
  );

/** Work that a worker takes. */
export const WORKER_ROLES = ['all', 'workflows', 'host'] as const;

export const workerSettingsShape = {
  /**
   * Work that a worker takes. `workflows`: workflows and activities of tools. `host`: jobs of pipelines, on this host. Default:
   * `all`.
   */
  workerRole: z.enum(WORKER_ROLES),
  /**
   * Maximum number of open workflows that a worker keeps in memory, or the memory for them, such as `200MB`, at 0.3 MB each.
   * Others are replayed from their history for their next workflow task. Default: 300.
   */
  maxCachedWorkflows: z.preprocess(
    cachedWorkflowsIn,
    z.coerce
      .number(
        `expected a number of workflows from 2 to 100000, or the memory for them, such as 200MB, at ${MB_PER_CACHED_WORKFLOW} MB each`,
      )
      .int()
      .min(2)
      .max(100_000),
  ),
  /** Slots for workflow tasks: maximum number that a worker handles at once. Default: 40, at most `maxCachedWorkflows`. */
  maxConcurrentWorkflowTaskExecutions: slots(2),
  /**
   * Slots for activities of tools: maximum number that a worker runs at once. Steps of pipelines have slots of their own, see
   * `maxSteps`. Default: 100.
   */
  maxConcurrentActivityTaskExecutions: slots(1),
  /** Slots for local activities: maximum number that a worker runs at once. Default: 100. */
  maxConcurrentLocalActivityExecutions: slots(1),
  /**
   * CPU usage of the machine or container, from 0 to 1, above which a worker takes no further task. Set together with
   * `targetMemoryUsage`, it gives the worker Temporal's resource-based tuner: slots are handed out while both are below their
   * target, up to the `maxConcurrent...` settings. Default: none; the numbers of slots are fixed.
   */
  targetCpuUsage: usage,
  /** Memory usage of the machine or container, from 0 to 1: see `targetCpuUsage`. Default: none. */
  targetMemoryUsage: usage,
  /**
   * Open polls for workflow tasks: a maximum, or `autoscaling` by Temporal's feedback, with optional bounds:
   * `autoscaling:minimum=1,maximum=100,initial=5`. Default: 10.
   */
  workflowTaskPollerBehavior: pollerBehavior(2),
  /** Open polls for activities of tools, in the form of `workflowTaskPollerBehavior`. Default: 10. */
  activityTaskPollerBehavior: pollerBehavior(1),
  /** Maximum rate, in starts per second, of activities of tools on one worker. Default: none. */
  maxActivitiesPerSecond: perSecond,
  /**
   * Maximum rate, in starts per second, of activities of tools on the task queue, over all workers; Temporal keeps to the value of
   * the worker that polled last. Default: none.
   */
  maxTaskQueueActivitiesPerSecond: perSecond,
  /**
   * Seconds that a workflow task waits for the worker that has its workflow in its cache before any worker gets it: the delay
   * of open workflows after a worker was killed. Default: 2 with the embedded Temporal, else 10.
   */
  stickyQueueScheduleToStartTimeoutSeconds: z.coerce.number().min(1).max(60),
  /**
   * Whether the workers of the task queue are versions of a Worker Deployment of Temporal, so that an operation ends with the
   * code of workflows that it began with. Default: true; without effect on a Temporal that lacks Worker Deployments. Under
   * `longhaul up` it is always false.
   */
  workerVersioning: yesOrNo,
  /**
   * How long running activities of tools get to end when a worker is asked to stop, with a unit: `90s`, `5m`, `0s`. Those that still
   * run are then cancelled, and run again on another worker. Under `longhaul up` it is always 5 s. Default: `5m`.
   */
  drainTimeout: duration(
    MAX_DRAIN_TIMEOUT_MS,
    'expected a time with its unit, such as 5m, 90s or 0s, up to 24h',
  ),
};

type Given = { [Name in keyof typeof workerSettingsShape]?: z.infer<(typeof workerSettingsShape)[Name]> };

/** Settings of Temporal's Worker; undefined where the worker's default depends on other settings, or there is none. */
export type WorkerSettings = {
  [Name in Exclude<keyof Given, 'drainTimeout'>]-?: Given[Name] | undefined;
} & {
  workerRole: (typeof WORKER_ROLES)[number];
  maxCachedWorkflows: number;
  stickyQueueScheduleToStartTimeoutSeconds: number;
  workerVersioning: boolean;
  drainTimeoutMs: number;
};

/**
 * The settings with their defaults.
 *
 * @param isExternal whether the environment names a Temporal, so that it isn't the embedded one
 * @param isSupervised whether the process runs under `longhaul up`
 */
export function resolveWorkerSettings(
  given: Given,
  isExternal: boolean,
  isSupervised: boolean,
): WorkerSettings {
  const { drainTimeout: _drainTimeout, ...shape } = workerSettingsShape;
  const names = Object.keys(shape) as (keyof typeof shape)[];
  return {
    ...(Object.fromEntries(names.map((name) => [name, given[name]])) as WorkerSettings),
    // The worker of `longhaul up` is alone.
    workerRole: isSupervised ? 'all' : (given.workerRole ?? 'all'),
    maxCachedWorkflows: given.maxCachedWorkflows ?? 300,
    // A killed worker's open workflows continue within 5 s on the embedded server.
    stickyQueueScheduleToStartTimeoutSeconds:
      given.stickyQueueScheduleToStartTimeoutSeconds ?? (isExternal ? 10 : 2),
    // Its operations follow edits and upgrades.
    workerVersioning: !isSupervised && (given.workerVersioning ?? true),
    drainTimeoutMs: isSupervised
      ? SUPERVISED_DRAIN_TIMEOUT_MS
      : (given.drainTimeout ?? DEFAULT_DRAIN_TIMEOUT_MS),
  };
}

/** Number of slots for workflow tasks: a cached workflow has one workflow task at a time. */
export function workflowTaskSlots(settings: WorkerSettings): number {
  return (
    settings.maxConcurrentWorkflowTaskExecutions ??
    Math.min(DEFAULT_SLOTS.workflowTasks, settings.maxCachedWorkflows)
  );
}

/** A setting that contradicts another one. */
export interface SettingsConflict {
  name: keyof Given;
  /** Condition that the value does not meet. */
  expected: string;
  other: keyof Given;
  /** The other setting's value, if it has one. */
  otherValue?: number;
}

/** The first conflict among settings that are valid one by one. */
export function workerSettingsConflict(settings: WorkerSettings): SettingsConflict | undefined {
  const { targetCpuUsage, targetMemoryUsage, maxCachedWorkflows } = settings;
  const isTuned = targetCpuUsage !== undefined;
  if (isTuned && targetMemoryUsage === undefined)
    return {
      name: 'targetCpuUsage',
      expected: 'a target memory usage beside it',
      other: 'targetMemoryUsage',
    };
  if (!isTuned && targetMemoryUsage !== undefined)
    return { name: 'targetMemoryUsage', expected: 'a target CPU usage beside it', other: 'targetCpuUsage' };
  const workflowSlots = settings.maxConcurrentWorkflowTaskExecutions;
  if (workflowSlots !== undefined && workflowSlots > maxCachedWorkflows) {
    const name = 'maxConcurrentWorkflowTaskExecutions';
    return {
      name,
      expected: 'at most as many as cached workflows',
      other: 'maxCachedWorkflows',
      otherValue: maxCachedWorkflows,
    };
  }
  const activitySlots = settings.maxConcurrentActivityTaskExecutions;
  return (
    pollConflict(
      settings,
      'workflowTaskPollerBehavior',
      'maxConcurrentWorkflowTaskExecutions',
      isTuned ? workflowSlots : workflowTaskSlots(settings),
    ) ??
    pollConflict(
      settings,
      'activityTaskPollerBehavior',
      'maxConcurrentActivityTaskExecutions',
      isTuned ? activitySlots : (activitySlots ?? DEFAULT_SLOTS.activityTasks),
    )
  );
}

/** Each open poll holds a slot. */
function pollConflict(
  settings: WorkerSettings,
  name: 'workflowTaskPollerBehavior' | 'activityTaskPollerBehavior',
  other: SettingsConflict['other'],
  slotCount: number | undefined,
): SettingsConflict | undefined {
  const behavior = parsePollerBehavior(settings[name] ?? '');
  if (behavior?.type !== 'simple-maximum' || slotCount === undefined) return undefined;
  if (behavior.maximum <= slotCount) return undefined;
  return { name, expected: 'at most as many polls as slots', other, otherValue: slotCount };
}
