/**
 * What the pipelines' workflow and its activities say to each other. It stands in histories: fields may be added,
 * never renamed.
 */
import type { ChildRecord } from '../operations/record.js';
import type { Pipeline } from './pipeline.js';

/** The workflow's only argument. */
export interface PipelineRun {
  pipeline: Pipeline;
  inputs: Record<string, unknown>;
  /** What an earlier operation had finished. */
  resume?: PipelineResume;
}

export interface PipelineResume {
  /** Workflow ID of the operation that this one goes on from. */
  workflowId: string;
  children: ChildRecord[];
  /** Where to go on; else after the last finished step of each job. */
  from?: { child: string; step: number };
}

/** One job, or one item of a job that runs for each of a list: what has a workspace of its own. */
export interface ChildId {
  job: string;
  /** Position of the item, from 0. */
  index?: number;
}

/** `build`, or `test[3]`. */
export function childName({ job, index }: ChildId): string {
  return index === undefined ? job : `${job}[${index}]`;
}

export interface OpenWorkspace {
  child: ChildId;
  /** When the operation was created: tells it from a deleted one that had the same workflow ID. */
  createdAt?: string;
  inputs: Record<string, unknown>;
  item?: unknown;
  /** Secrets that the job's steps will need: checked before the first one runs. */
  secrets: string[];
  /** Artifacts of needed jobs, put into the workspace's reach. */
  artifacts: ArtifactReference[];
  /** Workflow ID of the operation whose workspace of this child is to be taken over. */
  takeOverFrom?: string;
}

export interface OpenedWorkspace {
  /** Names the host that has the workspace: steps of this child run on its task queue. */
  host: string;
  /** Was the earlier operation's workspace there, and is now this one's? */
  isTakenOver: boolean;
}

export interface RunStep {
  child: ChildId;
  /** Position in the job, from 1. */
  step: number;
  name: string;
  run: string;
  workingDirectory?: string;
  /** The pipeline's, the job's and the step's own, laid over each other. */
  env: Record<string, string>;
  secrets: string[];
  /** What the approval's form was filled in with. */
  approval?: Record<string, unknown>;
  timeoutMinutes?: number;
  /**
   * How often somebody, or the step's own `idempotent`, decided that it be run again from nothing. A run of this step
   * with this number that was started and whose end isn't known is in doubt.
   */
  round: number;
  /** Don't run it: a person says that it has done its work. Only its outputs are read. */
  isTakenAsDone?: boolean;
}

export interface StepDone {
  exitCode: number;
  /** What it wrote to $LONGHAUL_OUTPUT. */
  outputs: Record<string, string>;
}

/** Detail of the failures {@link STEP_FAILED}, {@link STEP_TIMED_OUT} and {@link STEP_IN_DOUBT}. */
export interface StepFailureDetails {
  /** None when a signal ended it, or when it isn't known. */
  exitCode?: number;
  signal?: string;
  /** What it wrote to $LONGHAUL_OUTPUT until then. */
  outputs: Record<string, string>;
  /** The last lines of its log, at most 50. */
  lastLines: string[];
}

/** Failure types of {@link RunStep}. Any other failure is about the step's surroundings, and not retried. */
export const STEP_FAILED = 'StepFailed';
export const STEP_TIMED_OUT = 'StepTimedOut';
/** It was started, and nobody can tell how it ended: its worker, or the host, went away. */
export const STEP_IN_DOUBT = 'StepInDoubt';
/** Its worker stopped before it was started: nothing has been done. */
export const STEP_NOT_RUN = 'StepNotRun';

export interface SaveArtifacts {
  child: ChildId;
  patterns: string[];
  secrets: string[];
  /** The job has failed: what is there is saved, and a pattern that finds nothing is no failure. */
  isOptional?: boolean;
}

/** A file of a job that is kept in storage. */
export interface ArtifactReference {
  child: ChildId;
  /** Path relative to the workspace, with `/`. */
  path: string;
  /** Name among the operation's artifacts: the child's name, `/`, the path. */
  name: string;
  /** Workflow ID of the operation that it belongs to. */
  workflowId: string;
  bytes: number;
}

/** Watch a host that a job waits for. */
export interface AwaitHost {
  host: string;
  /** When the wait began, ISO 8601: a worker that has asked for work since then is back. */
  since: string;
  /** Only look, for so long, in milliseconds. Default: until the worker's setting for an absence has passed. */
  limitMs?: number;
}

export interface HostPresence {
  isBack: boolean;
  /** When a worker of the host was last seen, ISO 8601; when the wait began, if Temporal doesn't know. */
  lastSeenAt: string;
}

/** Signal to a pipeline's workflow: this host won't come back. Its argument is the host's ID. */
export const DROP_HOST_SIGNAL = 'longhaul_drop_host';

/** Task queue of the files of one host: workspaces and artifacts. */
export function hostTaskQueue(taskQueue: string, host: string): string {
  return `${taskQueue}:${host}`;
}

/** Task queue of the steps of one host: as many run at once as its worker takes. */
export function stepTaskQueue(taskQueue: string, host: string): string {
  return `${hostTaskQueue(taskQueue, host)}:steps`;
}
