/**
 * The Workers of one process. Two poll the shared task queue: one for workflows, replaceable while activities run, and one for
 * activities. Three belong to the host: one takes new pipeline jobs, and two poll this host's queues.
 * Steps have their own queue, so waiting steps don't block access to the host's files. The host's Workers have no version,
 * because any build's operations have files there.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker, type NativeConnection, type WorkerOptions } from '@temporalio/worker';
import { hostId } from '../steps/host.js';
import type { HostSteps } from '../steps/host-steps.js';
import { hostTaskQueue, placementTaskQueue, stepTaskQueue } from '../../pipelines/run.js';
import type { Settings } from '../../platform/settings/index.js';
import type { DeploymentVersion } from '../../platform/temporal/deployments.js';
import { withJitter } from '../../platform/jitter.js';
import { unversionedCode } from '../versions/bundle-entry.js';
import { StepSlots } from '../steps/slots.js';
import type { Tuning } from './tuning.js';

/** Slots for work that the Worker of steps doesn't do. */
const NO_SLOTS = { type: 'fixed-size', numSlots: 1 } as const;

/** How long local activities get when their worker stops, in milliseconds. Then they are cancelled. */
export const SHUTDOWN_GRACE_MS = 5_000;

/** Maximum number of open polls for steps, and for jobs to place on this host. */
const STEP_POLLS = 2;
const PLACEMENT_POLLS = 2;

/** Attempts to create a Worker. The pause after each grows by this many milliseconds. */
const CREATE_ATTEMPTS = 6;
const CREATE_PAUSE_MS = 500;

export type SharedOptions = Omit<WorkerOptions, 'taskQueue' | 'workflowBundle' | 'workerDeploymentOptions'>;

export class WorkerFactory {
  readonly #made = new Set<Worker>();

  constructor(
    private readonly settings: Settings,
    private readonly tuning: Tuning,
    private readonly shared: SharedOptions,
    private readonly steps: HostSteps,
  ) {}

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
      ...this.tuning.activities,
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
