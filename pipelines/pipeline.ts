/**
 * A parsed pipeline: what a YAML file says, checked and with its defaults. It travels in the workflow's arguments, so
 * that an edit of the file reaches new operations only: fields may be added here, never renamed.
 */
import type { JsonSchema } from '../operations/schema.js';

/** When a job or step runs: after what it follows succeeded, failed, or in any case. */
export type Condition = 'success' | 'failure' | 'always';

export interface Pipeline {
  /** Name of the tool. */
  name: string;
  description: string;
  /** Schema of an object: the tool's arguments. */
  inputs: JsonSchema;
  /** Name -> which job's output it is. */
  outputs: Record<string, PipelineOutput>;
  env: Record<string, string>;
  /** Names of secrets. Their values are known to workers only. */
  secrets: string[];
  /** Jobs that run side by side, at most. */
  concurrency: number;
  /** The operation's deadline, in minutes. */
  timeoutMinutes: number;
  /** How long it usually takes, in minutes, until past runs tell; if the file says. */
  estimateMinutes?: number;
  /** In the order of the file; by name. */
  jobs: Record<string, Job>;
}

export interface PipelineOutput {
  job: string;
  /** Key that the job names in its own outputs. */
  key: string;
  /** Schema of the value; of each value when the job runs for each of a list. A value that isn't a string is read as JSON. */
  schema: JsonSchema;
}

export interface Job {
  needs: string[];
  if: Condition;
  /** Name of the input whose items the job runs for, each for itself. */
  forEach?: string;
  env: Record<string, string>;
  steps: Step[];
  /** Paths and patterns in the workspace, kept once the steps have ended. */
  artifacts: string[];
  /** Keys that its steps write. */
  outputs: string[];
}

export interface Step {
  /** As the file names it, else `step 3`. */
  name: string;
  /** A script for bash; a step without one only asks. */
  run?: string;
  /** Relative to the workspace. */
  workingDirectory?: string;
  env: Record<string, string>;
  timeoutMinutes?: number;
  retry?: Retry;
  /** May it run again after its worker died? */
  idempotent: boolean;
  continueOnError: boolean;
  if: Condition;
  approval?: Approval;
}

export interface Retry {
  /** How often the step is run, the first time included. 1 to 100. */
  attempts: number;
  /** Seconds before the second attempt; doubled before each further one, up to an hour. */
  backoffSeconds: number;
}

export interface Approval {
  message: string;
  /** Flat schema of an object, which the person fills in. */
  fields?: JsonSchema;
}

/** How many runs of steps one operation may have, retries not counted: Temporal's history bounds them. */
export const MAX_STEP_RUNS = 5_000;

/** Name of the workflow that runs every pipeline. */
export const PIPELINE_WORKFLOW = 'pipeline';
