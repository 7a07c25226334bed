/** The part of a worker process that runs bundles of workflows. */
import type { WorkflowBundle } from './bundle.js';

/** Why a bundle, or a workflow in it, isn't run yet. */
export interface Refusal {
  /** Fields of the log line. */
  about: object;
  /** Says what keeps the code from being run, and what to do. */
  message: string;
}

export interface WorkflowHost {
  /** Runs the worker's first bundle. @returns what of it isn't run */
  start(bundle: WorkflowBundle): Promise<Refusal[]>;
  /** Runs a bundle that was made after edits. @returns what of it isn't run: there, the previous code keeps running */
  take(bundle: WorkflowBundle): Promise<Refusal[]>;
  /** Whether more of a bundle may be run by now. */
  mayTake(): Promise<boolean>;
  /** Number of activities that a drain waits for. */
  readonly drainingCount: number;
  /** Resolves once stopped; rejects if a Worker fails. */
  readonly done: Promise<void>;
  stop(): void;
}
