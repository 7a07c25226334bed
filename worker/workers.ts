/**
 * The Workers of one process. Two poll the shared task queue: one runs workflows, which can be replaced while activities run,
 * the other activities. Three belong to the host: one takes new jobs of pipelines, two poll task queues of this host: steps have
 * their own, so that waiting steps don't block access to the host's files. Those of the host have no version: any build's
 * operations have their files there.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker, type NativeConnection, type WorkerOptions } from '@temporalio/worker';
import { hostId } from '../activities/pipeline/host.js';
import type { HostSteps } from '../activities/pipeline/host-steps.js';
import { hostTaskQueue, placementTaskQueue, stepTaskQueue } from '../pipelines/run.js';
import type { Settings } from '../platform/settings/index.js';
import type { DeploymentVersion } from '../platform/deployments.js';
import { withJitter } from '../platform/jitter.js';
import { unversionedCode } from './bundle-entry.js';
import { StepSlots } from './step-slots.js';
import type { Tuning } from './tuning.js';

/** Suppliers of slots for work that the Worker of steps doesn't do. */
const NO_SLOTS = { type: 'fixed-size', numSlots: 1 } as const;

/** How long local activities, and steps that end with their worker, get to end when it stops, in milliseconds; then they are cancelled. */
export const SHUTDOWN_GRACE_MS = 5_000;

/** Maximum number of open polls for steps, and for jobs to be placed on this host. */
const STEP_POLLS = 2;
const PLACEMENT_POLLS = 2;

/** Attempts to create a Worker, and the pause after the first one in milliseconds, which grows with each. */
const CREATE_ATTEMPTS = 6;
const CREATE_PAUSE_MS = 500;

/** Options that all Workers share. */
export type SharedOptions = Omit<WorkerOptions, 'taskQueue' | 'workflowBundle' | 'workerDeploymentOptions'>;

/** Makes the Workers of a process. */
export class WorkerFactory {
  readonly #made = new Set<Worker>();

  constructor(
    private readonly settings: Settings,
    private readonly tuning: Tuning,
    private readonly shared: SharedOptions,
    private readonly steps: HostSteps,
  ) {}

  /** The Workers that haven't stopped. */
  get workers(): Worker[] {
    for (const worker of this.#made) if (worker.getState() === 'STOPPED') this.#made.delete(worker);
    return [...this.#made];
  }

  /** The Workers of this host: they place jobs on it, and poll its task queues. */
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
        // Otherwise steps run on without their worker, so that there is nothing to wait for.
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

  /** The Worker that runs the activities of the shared task queue. @param connection Default: the shared one */
  activities(connection?: NativeConnection, version?: DeploymentVersion): Promise<Worker> {
    return this.#create({
      ...this.#activityOptions,
      ...this.tuning.activities,
      taskQueue: this.settings.taskQueue,
      ...(connection ? { connection } : {}),
      ...deploymentOptions(version),
    });
  }

  /** The Worker that runs workflows and their local activities: it ends within moments, whatever activities run. */
  async workflows(
    codePath: string,
    connection: NativeConnection,
    version?: DeploymentVersion,
  ): Promise<Worker> {
    const workflowBundle = version
      ? { codePath }
      : { code: unversionedCode(await readFile(codePath, 'utf8')) };
    return this.#create({
      ...this.shared,
      ...this.tuning.workflows,
      connection,
      taskQueue: this.settings.taskQueue,
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

  get #activityOptions(): SharedOptions {
    const heartbeatMs = this.settings.heartbeatSeconds * 1_000;
    return {
      ...this.shared,
      shutdownGraceTime: this.settings.drainTimeoutMs,
      // The SDK sends one after 80 % of the activity's heartbeat time-out, if that is sooner.
      maxHeartbeatThrottleInterval: heartbeatMs,
      defaultHeartbeatThrottleInterval: heartbeatMs,
    };
  }
}

/**
 * Creates a Worker. The SDK describes the namespace as it does so, in one attempt: a Temporal that is busy, or starts again, must not
 * end this process.
 */
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

/** A workflow ends on the build that it began on, unless it says otherwise. */
function deploymentOptions(version: DeploymentVersion | undefined): Partial<WorkerOptions> {
  if (!version) return {};
  return {
    workerDeploymentOptions: { useWorkerVersioning: true, version, defaultVersioningBehavior: 'PINNED' },
  };
}
