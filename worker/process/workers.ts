/**
 * The Workers of one process. Two poll the shared task queue: one for workflows, replaceable while activities run, and one for
 * activities. Three belong to the host: one takes new pipeline jobs, and two poll this host's queues.
 * Steps have their own queue, so waiting steps don't block access to the host's files. The host's Workers have no version,
 * because any build's operations have files there.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import {
  Worker,
  type NativeConnection,
  type WorkerOptions,
  ResourceBasedController,
} from '@temporalio/worker';
import { hostId } from '../steps/host.js';
import type { HostSteps } from '../steps/host-steps.js';
import { hostTaskQueue, placementTaskQueue, stepTaskQueue } from '../../pipelines/run.js';
import type { Settings } from '../../platform/settings/index.js';
import type { DeploymentVersion } from '../../platform/temporal/deployments.js';
import { withJitter } from '../../platform/jitter.js';
import { unversionedCode } from '../versions/bundle-entry.js';
import { StepSlots } from '../steps/slots.js';
import { defined } from '../../operations/json/defined.js';
import type { TemporalConnection } from '../../platform/temporal/connect.js';
import { withTimeout } from '../../platform/with-timeout.js';
import type { Logger } from '../../platform/observe/log.js';

/** The SDK's defaults, which Longhaul keeps. */
const DEFAULT_SLOTS = { workflowTasks: 40, activityTasks: 100, localActivities: 100 } as const;
/** Slots for work that the Worker of steps doesn't do. */
const NO_SLOTS = { type: 'fixed-size', numSlots: 1 } as const;

/** How long local activities get when their worker stops, in milliseconds. Then they are cancelled. */
const SHUTDOWN_GRACE_MS = 5_000;

/** Maximum number of open polls for steps, and for jobs to place on this host. */
const STEP_POLLS = 2;
const PLACEMENT_POLLS = 2;

/** Attempts to create a Worker. The pause after each grows by this many milliseconds. */
const CREATE_ATTEMPTS = 6;
const CREATE_PAUSE_MS = 500;

/** Time for the other Workers to stop once one has failed, in milliseconds: the process has to be restarted, not drained. */
const FAILURE_LIMIT_MS = 10_000;

export type SharedOptions = Omit<WorkerOptions, 'taskQueue' | 'workflowBundle' | 'workerDeploymentOptions'>;

export class WorkerFactory {
  readonly #made = new Set<Worker>();
  readonly #controller: ResourceBasedController | undefined;

  /** @throws IllegalStateError when targets are set and Temporal's runtime isn't installed yet */
  constructor(
    private readonly settings: Settings,
    private readonly shared: SharedOptions,
    private readonly steps: HostSteps,
  ) {
    const { targetCpuUsage, targetMemoryUsage } = settings;
    if (targetCpuUsage !== undefined && targetMemoryUsage !== undefined)
      this.#controller = ResourceBasedController.create({ targetCpuUsage, targetMemoryUsage });
  }

  get workers(): Worker[] {
    for (const worker of this.#made) if (worker.getState() === 'STOPPED') this.#made.delete(worker);
    return [...this.#made];
  }

  host(): Promise<Worker[]> {
    const { home, taskQueue, maxSteps, stepsEndWithWorker, drainTimeoutMs } = this.settings;
    const host = hostId(home);
    return Promise.all([
      this.#create({
        ...this.#activityOptions,
        taskQueue: placementTaskQueue(taskQueue),
        maxConcurrentActivityTaskPolls: PLACEMENT_POLLS,
      }),
      this.#create({ ...this.#activityOptions, taskQueue: hostTaskQueue(taskQueue, host) }),
      this.#create({
        ...this.#activityOptions,
        taskQueue: stepTaskQueue(taskQueue, host),
        // Otherwise steps outlive their worker, so there is nothing to wait for.
        shutdownGraceTime: stepsEndWithWorker ? drainTimeoutMs : 0,
        tuner: {
          workflowTaskSlotSupplier: NO_SLOTS,
          activityTaskSlotSupplier: new StepSlots(maxSteps, this.steps),
          localActivityTaskSlotSupplier: NO_SLOTS,
          nexusTaskSlotSupplier: NO_SLOTS,
        },
        maxConcurrentActivityTaskPolls: Math.min(maxSteps, STEP_POLLS),
      }),
    ]);
  }

  /** Runs the activities of the shared task queue. @param connection Default: the shared one */
  activities(connection?: NativeConnection, version?: DeploymentVersion): Promise<Worker> {
    return this.#create({
      ...this.#activityOptions,
      ...this.#activitySlots,
      ...defined({ maxTaskQueueActivitiesPerSecond: this.settings.maxTaskQueueActivitiesPerSecond }),
      taskQueue: this.settings.taskQueue,
      ...(connection ? { connection } : {}),
      ...deploymentOptions(version),
    });
  }

  /** Runs workflows and their local activities. It stops within moments, whatever activities run. */
  async workflows(
    codePath: string,
    connection: NativeConnection,
    version?: DeploymentVersion,
  ): Promise<Worker> {
    const { taskQueue, maxCachedWorkflows, stickyQueueScheduleToStartTimeoutSeconds } = this.settings;
    const workflowBundle = version
      ? { codePath }
      : { code: unversionedCode(await readFile(codePath, 'utf8')) };
    return this.#create({
      ...this.shared,
      ...this.#workflowSlots,
      maxCachedWorkflows,
      stickyQueueScheduleToStartTimeout: stickyQueueScheduleToStartTimeoutSeconds * 1_000,
      connection,
      taskQueue,
      workflowBundle,
      enableNonLocalActivities: false,
      shutdownGraceTime: SHUTDOWN_GRACE_MS,
      ...deploymentOptions(version),
    });
  }

  async #create(options: WorkerOptions): Promise<Worker> {
    const worker = await createWorker(options);
    this.#made.add(worker);
    return worker;
  }

  /** A cached workflow has one workflow task at a time. */
  get #workflowSlots(): Partial<WorkerOptions> {
    const { maxCachedWorkflows } = this.settings;
    const controller = this.#controller;
    if (controller)
      return { tuner: { controller, workflowTaskSlotOptions: { maximumSlots: maxCachedWorkflows } } };
    return {
      maxConcurrentWorkflowTaskExecutions: Math.min(DEFAULT_SLOTS.workflowTasks, maxCachedWorkflows),
      maxConcurrentLocalActivityExecutions: DEFAULT_SLOTS.localActivities,
    };
  }

  get #activitySlots(): Partial<WorkerOptions> {
    const { maxConcurrentActivityTaskExecutions: slots } = this.settings;
    const controller = this.#controller;
    return controller
      ? { tuner: { controller, activityTaskSlotOptions: defined({ maximumSlots: slots }) } }
      : { maxConcurrentActivityTaskExecutions: slots ?? DEFAULT_SLOTS.activityTasks };
  }

  get #activityOptions(): SharedOptions {
    const heartbeatMs = this.settings.heartbeatSeconds * 1_000;
    return {
      ...this.shared,
      shutdownGraceTime: this.settings.drainTimeoutMs,
      // The SDK sends one after 80 % of the activity's heartbeat timeout, if that is sooner.
      maxHeartbeatThrottleInterval: heartbeatMs,
      defaultHeartbeatThrottleInterval: heartbeatMs,
    };
  }
}

/** The SDK describes the namespace once while creating a Worker: a busy or restarting Temporal must not end this process. */
async function createWorker(options: WorkerOptions): Promise<Worker> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await Worker.create(options);
    } catch (error) {
      const isTemporary = /code: (Unavailable|DeadlineExceeded|ResourceExhausted)/.test(String(error));
      if (!isTemporary || attempt === CREATE_ATTEMPTS) throw error;
      await delay(withJitter(CREATE_PAUSE_MS * attempt));
    }
  }
}

/** By default, a workflow ends on the build that it began on. */
function deploymentOptions(version: DeploymentVersion | undefined): Partial<WorkerOptions> {
  if (!version) return {};
  return {
    workerDeploymentOptions: { useWorkerVersioning: true, version, defaultVersioningBehavior: 'PINNED' },
  };
}

/**
 * Workers that start and end together, on their own connection: Temporal's SDK takes one Worker of a kind per connection and task queue.
 */
export class WorkerGroup {
  /** Resolves once all have stopped; rejects if one fails. */
  readonly ended: Promise<void>;

  private constructor(
    private readonly workers: Worker[],
    temporal: TemporalConnection,
  ) {
    this.ended = allEnded(
      workers.map((worker) => worker.run()),
      () => this.shutdown(),
      () => temporal.close(),
    );
    this.ended.catch(() => undefined);
  }

  /** @throws when a Worker can't be created */
  static async start(
    connect: () => Promise<TemporalConnection>,
    create: (connection: NativeConnection) => Promise<Worker[]>,
  ): Promise<WorkerGroup> {
    const temporal = await connect();
    try {
      const workers = await create(temporal.current);
      temporal.onReplaced((connection) => workers.forEach((worker) => (worker.connection = connection)));
      return new WorkerGroup(workers, temporal);
    } catch (error) {
      await temporal.close();
      throw error;
    }
  }

  get drainingCount(): number {
    return countDraining(this.workers);
  }

  /** Stops polling; running activities get the grace time. */
  shutdown(): void {
    for (const worker of this.workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  }
}

/** Number of running activities, without local ones, which belong to a workflow task. */
export function countDraining(workers: Worker[]): number {
  return workers.reduce((sum, worker) => sum + worker.getStatus().numInFlightNonLocalActivities, 0);
}

/** Resolves once all have ended and the connection is closed. If one fails, stops the others and rejects with its error within 10 s. */
export async function allEnded(
  running: Promise<void>[],
  shutdown: () => void,
  closeConnection: () => Promise<void>,
): Promise<void> {
  try {
    await Promise.all(running);
  } catch (error) {
    shutdown();
    await withTimeout(Promise.allSettled(running), FAILURE_LIMIT_MS);
    // Workers that still run keep it open.
    await closeConnection().catch(() => undefined);
    throw error;
  }
  await closeConnection();
}

/** Time for cancelled activities to end and for last reports, in milliseconds. */
const AFTER_CANCELLATION_MS = 5_000;

/** Activities are counted this long before the cancellation, in milliseconds, since cancelled ones may end before a later timer fires. */
const BEFORE_CANCELLATION_MS = 100;

/**
 * The drain of a stopping worker: it takes no new work, and activities of tools and steps that end with the worker get the
 * drain timeout to finish. Then they are cancelled, and Temporal starts them again on another worker.
 */
export class Drain {
  readonly #ending = new AbortController();
  #hasBegun = false;

  constructor(
    private readonly timeoutMs: number,
    private readonly logger: Logger,
  ) {}

  get limitMs(): number {
    return Math.max(this.timeoutMs, SHUTDOWN_GRACE_MS) + AFTER_CANCELLATION_MS;
  }

  /** Fires shortly before activities are cancelled: the last chance for reports that Temporal hasn't taken yet. */
  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  /** Begins the drain, once. @param countActivities number of activities that still run */
  begin(countActivities: () => number): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    const { timeoutMs, logger } = this;
    const activities = countActivities();
    const drainSeconds = timeoutMs / 1_000;
    logger.info(
      { activities, drainSeconds },
      activities === 0
        ? 'worker stops: no activities run'
        : `worker stops: ${runningActivities(activities)}, and may do so for ${drainSeconds} s`,
    );
    setTimeout(() => this.#ending.abort(), Math.max(0, timeoutMs - AFTER_CANCELLATION_MS)).unref();
    const countBeforeEnd = () => {
      const left = countActivities();
      if (left === 0) return;
      logger.warn({ activities: left }, `drain timeout: ${runningActivities(left)}, and will be cancelled`);
    };
    setTimeout(countBeforeEnd, Math.max(0, timeoutMs - BEFORE_CANCELLATION_MS)).unref();
  }
}

function runningActivities(count: number): string {
  return count === 1 ? '1 activity still runs' : `${count} activities still run`;
}
