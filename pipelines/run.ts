/** Arguments and results between the pipelines' workflow and its activities. Histories hold them: add fields, never rename them. */
import { defineQuery, defineSignal } from '../operations/tool/definitions.js';
import type { ArtifactRecord, ChildRecord, UnsavedArtifact } from '../operations/record.js';
import type { Pipeline } from './pipeline.js';

export interface PipelineRun {
  pipeline: Pipeline;
  inputs: Record<string, unknown>;
  resume?: PipelineResume;
}

export interface PipelineResume {
  workflowId: string;
  children: ChildRecord[];
  pages?: Record<string, PageResult>;
  /** First step to run. Default: after the last finished step of each job. */
  from?: StepPosition;
}

export interface StepPosition {
  child: string;
  /** From 1. */
  step: number;
}

/** Argument of a page's workflow: a range of a `for-each` job's items, with its own history. */
export interface PageRun {
  /** The pipeline with only the page's job, and without the schema of its inputs. */
  pipeline: Pipeline;
  job: string;
  /** From 0. */
  from: number;
  items: unknown[];
  /** The operation's inputs if they are small; missing: activities query {@link INPUTS_QUERY}. */
  inputs?: Record<string, unknown>;
  /** When the operation was created, ISO 8601. */
  createdAt?: string;
  /** Digest of the pipeline and all inputs, which approvals are given for. */
  approvedFor?: string;
  artifacts: ArtifactReference[];
  /** Number of items that may run side by side at first; {@link GRANT_SLOTS_SIGNAL} adds to it. */
  slots: number;
  resume?: PageResume;
}

export interface PageResume {
  workflowId: string;
  pageId: string;
  /** First step to run, if it belongs to this page. */
  from?: StepPosition;
  /** Whether jobs that need this page's job have yet to run. */
  areJobsBehind?: boolean;
}

export interface PageResult {
  /** Failed items, at most {@link NAMED_FAILURES}. */
  failures: ChildFailure[];
  failureCount: number;
  /** Declared outputs: key -> value of each item, null if its steps wrote none. */
  outputs: Record<string, (string | null)[]>;
  artifacts: ArtifactReference[];
}

export const NAMED_FAILURES = 20;

export interface ChildFailure {
  name: string;
  /** For people: the step, how it failed, and the last lines of its log. */
  message: string;
  type: string;
}

/** ID of a child with its own workspace: a job, or one item of a `for-each` job. */
export interface ChildId {
  job: string;
  /** From 0. */
  index?: number;
}

/** `build`, or `test[3]`. */
export function childName({ job, index }: ChildId): string {
  return index === undefined ? job : `${job}[${index}]`;
}

/** `test[0-249]`: the page's items, by position. */
export function pageName(job: string, from: number, count: number): string {
  return `${job}[${from}-${from + count - 1}]`;
}

export interface OpenWorkspace {
  child: ChildId;
  /** When the operation was created: distinguishes it from a deleted one with the same workflow ID. */
  createdAt?: string;
  /** The operation's inputs; missing: see {@link INPUTS_QUERY}. */
  inputs?: Record<string, unknown>;
  item?: unknown;
  /** Secrets that the job's steps need: checked before the first one runs. */
  secrets: string[];
  /** Artifacts of needed jobs, to copy to the host. */
  artifacts: ArtifactReference[];
  takeOverFrom?: string;
}

export interface OpenedWorkspace {
  /** ID of the workspace's host: this child's steps run on its task queue. */
  host: string;
  isTakenOver: boolean;
}

/** Type of the activity that runs a step. */
export const RUN_STEP_ACTIVITY = 'runPipelineStep';

export interface RunStep {
  child: ChildId;
  /** From 1. */
  step: number;
  name: string;
  run: string;
  workingDirectory?: string;
  /** Variables of the pipeline, the job and the step; later ones override earlier ones. */
  env: Record<string, string>;
  secrets: string[];
  approval?: Record<string, unknown>;
  timeoutMinutes?: number;
  /**
   * Number of the run from scratch, from 1. It increases when a person, or the step's `idempotent`, repeats the step. The step is in doubt
   * if this run was started and its outcome is unknown.
   */
  round: number;
  /** A person has accepted the step as done: only its outputs are read. */
  isTakenAsDone?: boolean;
}

export interface StepDone {
  exitCode: number;
  /** Outputs from $LONGHAUL_OUTPUT. */
  outputs: Record<string, string>;
}

/** Detail of the failures {@link STEP_FAILED}, {@link STEP_TIMED_OUT} and {@link STEP_IN_DOUBT}. */
export interface StepFailureDetails {
  /** Missing if a signal ended it, or if unknown. */
  exitCode?: number;
  signal?: string;
  /** Outputs from $LONGHAUL_OUTPUT, before it ended. */
  outputs: Record<string, string>;
  /** The last lines of its log, at most 50. */
  lastLines: string[];
}

/** Failure types of {@link RunStep}. Any other failure is about the step's environment, and not retried. */
export const STEP_FAILED = 'StepFailed';
export const STEP_TIMED_OUT = 'StepTimedOut';
/** It was started, but its worker or host died, so its outcome is unknown. */
export const STEP_IN_DOUBT = 'StepInDoubt';
/** Its worker stopped before it started: nothing was done. */
export const STEP_NOT_RUN = 'StepNotRun';

export interface SaveArtifacts {
  child: ChildId;
  patterns: string[];
  secrets: string[];
}

/** A stored file of a job, named `<child>/<path>`. */
export interface ArtifactReference extends ArtifactRecord {
  child: ChildId;
}

/** Detail of a failure of {@link SaveArtifacts}. */
export interface UnsavedDetails {
  /** Files that are stored all the same. */
  saved: ArtifactReference[];
  unsaved: UnsavedArtifact[];
}

export interface AwaitHost {
  host: string;
  /** When the wait began, ISO 8601: a worker that has polled since then is back. */
  since: string;
  /** Maximum wait, in milliseconds. Default: the worker's setting for an absence. */
  limitMs?: number;
}

export interface HostPresence {
  isBack: boolean;
  /** When the host's worker was last seen, ISO 8601; when the wait began, if Temporal doesn't know. */
  lastSeenAt: string;
}

/** Signal to a pipeline's workflow that drops a host. Argument: the host's ID. */
export const DROP_HOST_SIGNAL = defineSignal<[host: string]>('longhaul_drop_host');

/** Query of a pipeline's workflow for its inputs: the history doesn't repeat large ones for each child. */
export const INPUTS_QUERY = defineQuery<Record<string, unknown>>('inputs');

/** Signal to a page: more of its items may run side by side. Argument: how many more. */
export const GRANT_SLOTS_SIGNAL = defineSignal<[count: number]>('longhaul_grant_slots');

/** Signal of a page to its pipeline: all its items have started, so it needs fewer slots. */
export const RETURN_SLOTS_SIGNAL =
  defineSignal<[{ workflowId: string; count: number }]>('longhaul_return_slots');

/** Task queue of all workers with a host: the worker that takes the task opens the job's workspace on its host. */
export function placementTaskQueue(taskQueue: string): string {
  return `${taskQueue}-hosts`;
}

/** Task queue for access to one host's files: workspaces and artifacts. */
export function hostTaskQueue(taskQueue: string, host: string): string {
  return `${taskQueue}:${host}`;
}

/** Task queue for one host's steps: its worker limits how many run at once. */
export function stepTaskQueue(taskQueue: string, host: string): string {
  return `${hostTaskQueue(taskQueue, host)}:steps`;
}
