/**
 * Arguments and results between the pipelines' workflow and its activities. They are part of histories: fields may be
 * added, never renamed.
 */
import { defineQuery, defineSignal } from '../operations/definitions.js';
import type { ArtifactRecord, ChildRecord, UnsavedArtifact } from '../operations/record.js';
import type { Pipeline } from './pipeline.js';

/** The workflow's only argument. */
export interface PipelineRun {
  pipeline: Pipeline;
  inputs: Record<string, unknown>;
  /** The earlier operation that this one resumes. */
  resume?: PipelineResume;
}

export interface PipelineResume {
  /** Workflow ID of the earlier operation. */
  workflowId: string;
  children: ChildRecord[];
  /** Results of its completed pages, by their names. */
  pages?: Record<string, PageResult>;
  /** First step to run. Default: after the last finished step of each job. */
  from?: StepPosition;
}

export interface StepPosition {
  /** Name of the child. */
  child: string;
  /** Position in its job, from 1. */
  step: number;
}

/** Argument of the workflow of a page: a range of a `for-each` job's items, with a history of its own. */
export interface PageRun {
  /** The pipeline with the page's job only, and without the schema of its inputs. */
  pipeline: Pipeline;
  job: string;
  /** Position of the first item in the list, from 0. */
  from: number;
  items: unknown[];
  /** The operation's inputs if they are small; missing: activities query {@link INPUTS_QUERY}. */
  inputs?: Record<string, unknown>;
  /** When the operation was created, ISO 8601. */
  createdAt?: string;
  /** Digest of what approvals are given for: the pipeline and all inputs. */
  approvedFor?: string;
  /** Artifacts of needed jobs. */
  artifacts: ArtifactReference[];
  /** Number of items that may run side by side at first; {@link GRANT_SLOTS_SIGNAL} adds to it. */
  slots: number;
  resume?: PageResume;
}

export interface PageResume {
  /** Workflow ID of the earlier operation. */
  workflowId: string;
  /** Workflow ID of its page. */
  pageId: string;
  /** First step to run, if it belongs to this page. */
  from?: StepPosition;
  /** Whether jobs that need the success of the page's job have yet to run. */
  areJobsBehind?: boolean;
}

export interface PageResult {
  /** Failed items, at most {@link NAMED_FAILURES}. */
  failures: ChildFailure[];
  failureCount: number;
  /** Outputs that the pipeline declares: key -> value of each item, null where its steps wrote none. */
  outputs: Record<string, (string | null)[]>;
  artifacts: ArtifactReference[];
}

/** Maximum number of failed children that an error names. */
export const NAMED_FAILURES = 20;

/** Why a child failed. */
export interface ChildFailure {
  /** Name of the child. */
  name: string;
  /** For people: the step, how it failed, and the last lines of its log. */
  message: string;
  type: string;
}

/** ID of a child, which has its own workspace: a job, or one item of a `for-each` job. */
export interface ChildId {
  job: string;
  /** Position of the item, from 0. */
  index?: number;
}

/** `build`, or `test[3]`. */
export function childName({ job, index }: ChildId): string {
  return index === undefined ? job : `${job}[${index}]`;
}

/** `test[0-249]`: the page's items, by their positions. */
export function pageName(job: string, from: number, count: number): string {
  return `${job}[${from}-${from + count - 1}]`;
}

export interface OpenWorkspace {
  child: ChildId;
  /** When the operation was created; distinguishes it from a deleted one with the same workflow ID. */
  createdAt?: string;
  /** The operation's inputs; missing: see {@link INPUTS_QUERY}. */
  inputs?: Record<string, unknown>;
  item?: unknown;
  /** Secrets that the job's steps will need: checked before the first one runs. */
  secrets: string[];
  /** Artifacts of needed jobs, which are copied to the host. */
  artifacts: ArtifactReference[];
  /** Workflow ID of the operation whose workspace of this child is to be taken over. */
  takeOverFrom?: string;
}

export interface OpenedWorkspace {
  /** ID of the host that has the workspace: steps of this child run on its task queue. */
  host: string;
  /** Whether the earlier operation's workspace was taken over. */
  isTakenOver: boolean;
}

export interface RunStep {
  child: ChildId;
  /** Position in the job, from 1. */
  step: number;
  name: string;
  run: string;
  workingDirectory?: string;
  /** Variables of the pipeline, the job and the step; later ones override earlier ones. */
  env: Record<string, string>;
  secrets: string[];
  /** Fields of the approval's form. */
  approval?: Record<string, unknown>;
  timeoutMinutes?: number;
  /**
   * Number of the run from scratch, from 1: it increases when a person, or the step's `idempotent`, has it run again. If a
   * run with this number was started and its outcome is unknown, the step is in doubt.
   */
  round: number;
  /** A person has accepted the step as done: it doesn't run, only its outputs are read. */
  isTakenAsDone?: boolean;
}

export interface StepDone {
  exitCode: number;
  /** Outputs that it wrote to $LONGHAUL_OUTPUT. */
  outputs: Record<string, string>;
}

/** Detail of the failures {@link STEP_FAILED}, {@link STEP_TIMED_OUT} and {@link STEP_IN_DOUBT}. */
export interface StepFailureDetails {
  /** Missing when a signal ended it, or when it is unknown. */
  exitCode?: number;
  signal?: string;
  /** Outputs that it wrote to $LONGHAUL_OUTPUT before it ended. */
  outputs: Record<string, string>;
  /** The last lines of its log, at most 50. */
  lastLines: string[];
}

/** Failure types of {@link RunStep}. Any other failure is about the step's environment, and not retried. */
export const STEP_FAILED = 'StepFailed';
export const STEP_TIMED_OUT = 'StepTimedOut';
/** It was started, and its outcome is unknown, because its worker or the host died. */
export const STEP_IN_DOUBT = 'StepInDoubt';
/** Its worker stopped before it was started: nothing has been done. */
export const STEP_NOT_RUN = 'StepNotRun';

export interface SaveArtifacts {
  child: ChildId;
  patterns: string[];
  secrets: string[];
}

/** A stored file of a job; its name is the child's name, `/`, the path. */
export interface ArtifactReference extends ArtifactRecord {
  child: ChildId;
}

/** Detail of a failure of {@link SaveArtifacts}. */
export interface UnsavedDetails {
  /** The files that are stored all the same. */
  saved: ArtifactReference[];
  unsaved: UnsavedArtifact[];
}

/** Argument of the activity that waits for a host. */
export interface AwaitHost {
  host: string;
  /** When the wait began, ISO 8601: a worker that has polled since then is back. */
  since: string;
  /** Maximum wait, in milliseconds. Default: the worker's setting for an absence. */
  limitMs?: number;
}

export interface HostPresence {
  isBack: boolean;
  /** When a worker of the host was last seen, ISO 8601; when the wait began, if Temporal doesn't know. */
  lastSeenAt: string;
}

/** Signal to a pipeline's workflow that drops a host. Its argument is the host's ID. */
export const DROP_HOST_SIGNAL = defineSignal<[host: string]>('longhaul_drop_host');

/** Query of a pipeline's workflow for its inputs: large ones aren't repeated in the history for each child. */
export const INPUTS_QUERY = defineQuery<Record<string, unknown>>('inputs');

/** Signal to a page: more of its items may run side by side. Argument: how many more. */
export const GRANT_SLOTS_SIGNAL = defineSignal<[count: number]>('longhaul_grant_slots');

/** Signal of a page to its pipeline: it needs fewer slots, since all of its items have started. */
export const RETURN_SLOTS_SIGNAL =
  defineSignal<[{ workflowId: string; count: number }]>('longhaul_return_slots');

/** Task queue of the workers that have a host: the one that takes the task opens the workspace of a job on its host. */
export function placementTaskQueue(taskQueue: string): string {
  return `${taskQueue}-hosts`;
}

/** Task queue for access to one host's files: workspaces and artifacts. */
export function hostTaskQueue(taskQueue: string, host: string): string {
  return `${taskQueue}:${host}`;
}

/** Task queue for the steps of one host: its worker limits how many run at once. */
export function stepTaskQueue(taskQueue: string, host: string): string {
  return `${hostTaskQueue(taskQueue, host)}:steps`;
}
