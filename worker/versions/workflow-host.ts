/** The part of a worker process that runs workflow bundles. */
import type { WorkflowBundle } from './bundle.js';

/** Why a bundle, or a workflow in it, doesn't run yet. */
export interface Refusal {
  /** Fields of the log line. */
  about: object;
  /** Reason that the code does not run, and what to do. */
  message: string;
}

export interface WorkflowHost {
  /** Runs the worker's first bundle. @returns the parts that don't run */
  start(bundle: WorkflowBundle): Promise<Refusal[]>;
  /** Runs a bundle made after edits. @returns the parts that don't run; their previous code keeps running */
  take(bundle: WorkflowBundle): Promise<Refusal[]>;
  /** Whether refused parts may run by now. */
  mayTake(): Promise<boolean>;
  /** Number of activities that a drain waits for. */
  readonly drainingCount: number;
  /** Resolves once stopped; rejects if a Worker fails. */
  readonly done: Promise<void>;
  stop(): void;
}
