/** A parsed pipeline, with defaults. Workflow arguments hold it, so edits of a file reach only new operations. Add fields, never rename. */
import type { JsonSchema } from '../operations/tool/schema.js';
import type { QueueOptions } from '../operations/tool/queue.js';

/** When a job or step runs: after success or failure of the jobs in `needs` or the earlier steps, or always. */
export type Condition = 'success' | 'failure' | 'always';

export interface Pipeline {
  name: string;
  description: string;
  /** Schema of an object: the tool's arguments. */
  inputs: JsonSchema;
  /** Name of the output -> the job's output that it refers to. */
  outputs: Record<string, PipelineOutput>;
  env: Record<string, string>;
  /** Names of secrets. Only workers have their values. */
  secrets: string[];
  concurrency: number;
  /** 1 to 5: which operations workers take first. */
  priority?: number;
  queue?: QueueOptions;
  timeoutMinutes: number;
  /** Usual duration by the file, in minutes; used until there are past runs. */
  estimateMinutes?: number;
  /** By name, in the order of the file. */
  jobs: Record<string, Job>;
}

export interface PipelineOutput {
  job: string;
  key: string;
  /** Schema of the value, or of each value for a `for-each` job. Values other than strings are parsed as JSON. */
  schema: JsonSchema;
}

export interface Job {
  needs: string[];
  if: Condition;
  /** Name of the input that is a list: the job runs once per item. */
  forEach?: string;
  env: Record<string, string>;
  steps: Step[];
  /** Paths and patterns of workspace files to store once the steps have ended. */
  artifacts: string[];
  outputs: string[];
}

export interface Step {
  /** As in the file, or else `step 3`. */
  name: string;
  /** A script for bash; a step without one only asks. */
  run?: string;
  /** Relative to the workspace. */
  workingDirectory?: string;
  env: Record<string, string>;
  timeoutMinutes?: number;
  retry?: Retry;
  /** Whether it may run again after its worker died. */
  idempotent: boolean;
  continueOnError: boolean;
  if: Condition;
  approval?: Approval;
}

export interface Retry {
  /** How often the step runs, including the first time. 1 to 100. */
  attempts: number;
  /** Seconds before the second attempt; doubled before each further one, up to an hour. */
  backoffSeconds: number;
}

export interface Approval {
  message: string;
  /** Flat schema of an object, which the person fills in. */
  fields?: JsonSchema;
  /** A caller needs one of these roles to answer. */
  approvers?: string[];
  /** Whether the principal that started the operation may not answer. */
  fourEyes?: boolean;
}

/** Default time-out of a step that runs after a cancel, in minutes. */
export const LAST_STEPS_MINUTES = 5;

export const MAX_STEPS = 5_000;

export const PIPELINE_WORKFLOW = 'pipeline';
/** Workflow that runs a page: a range of a `for-each` job's items. */
export const PAGE_WORKFLOW = 'pipeline_page';
