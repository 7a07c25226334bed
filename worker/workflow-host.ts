/** The part of a worker process that runs bundles of workflows. */
import type { Client } from '@temporalio/client';
import type { Logger } from '../platform/log.js';
import type { WorkflowBundle } from './bundle.js';
import type { ReplayCheck } from './replay-check.js';
import type { WorkerGroup } from './worker-group.js';

/** Options of hosts that run builds as versions of a Worker Deployment. */
export interface VersionedHostOptions {
  taskQueue: string;
  deploymentName: string;
  /** Identity of this worker. */
  identity: string;
  logger: Logger;
  client: () => Client;
  replays: ReplayCheck;
  createWorkers: (bundle: WorkflowBundle) => Promise<WorkerGroup>;
}

/** Why a bundle isn't run yet. */
export interface Refusal {
  /** Fields of the log line. */
  about: object;
  /** Says what keeps the bundle from being run, and what to do. */
  message: string;
}

export interface WorkflowHost {
  /**
   * Runs the worker's first bundle.
   *
   * @returns reasons why the previous bundle runs instead, in this process
   */
  start(bundle: WorkflowBundle): Promise<Refusal[]>;
  /** Checks open operations against the first bundle, and logs those that it doesn't replay. */
  checkFirst(bundle: WorkflowBundle): Promise<void>;
  /** Runs a bundle that was made after edits, or says why the previous one keeps running. */
  take(bundle: WorkflowBundle, previous: WorkflowBundle): Promise<Refusal[]>;
  /** Whether a bundle that was refused may be taken by now. */
  mayTake(): Promise<boolean>;
  /** Number of activities that a drain waits for. */
  readonly drainingCount: number;
  /** Resolves once stopped; rejects if a Worker fails. */
  readonly done: Promise<void>;
  stop(): void;
}
