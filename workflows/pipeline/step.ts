/** Activities of a child: opening its workspace, running a step on the workspace's host, and saving artifacts. */
import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  isCancellation,
  proxyActivities,
  workflowInfo,
} from '@temporalio/workflow';
import type * as activities from '../../activities/pipeline/index.js';
import { defined } from '../../operations/json/defined.js';
import type { StepRecord } from '../../operations/record.js';
import type { Job, Pipeline, Step } from '../../pipelines/pipeline.js';
import {
  STEP_IN_DOUBT,
  STEP_NOT_RUN,
  stepTaskQueue,
  type ChildId,
  type RunStep,
  type StepDone,
  type StepFailureDetails,
  hostTaskQueue,
  placementTaskQueue,
  type ArtifactReference,
  type OpenedWorkspace,
  type OpenWorkspace,
  type UnsavedDetails,
} from '../../pipelines/run.js';
import { runOnHost, type HostedJob } from './hosts.js';
import { askAboutUnknownOutcome, withInputRequired } from './questions.js';

/** After this time without a worker, the step's next attempt waits for one and finds the step by its journal. */
const HEARTBEAT_TIMEOUT_MS = 120_000;
/** How often an idempotent step runs again automatically after its worker died. */
const MAX_RERUNS = 5;
/** Start-to-close timeout beyond the step's own, which the worker enforces, in minutes. */
const BACKSTOP_MINUTES = 10;

export interface StepOwner extends HostedJob {
  /** Whether only `if: always` steps are left, which ask no more questions. */
  readonly isEnding: boolean;
  readonly pipeline: Pipeline;
  readonly job: Job;
  readonly id: ChildId;
}

/**
 * Runs a step as an activity on the task queue of the host with the job's workspace. A step with an unknown outcome runs again only if it
 * is declared idempotent or a person confirms it.
 *
 * @throws ActivityFailure when the step failed, timed out or was given up; CancelledFailure
 */
export async function runStep(
  child: StepOwner,
  step: Step,
  number: number,
  record: StepRecord,
): Promise<StepDone> {
  const { pipeline, job, id } = child;
  const { approval } = child.record;
  const request: RunStep = {
    child: id,
    step: number,
    name: step.name,
    run: step.run!,
    env: { ...pipeline.env, ...job.env, ...step.env },
    secrets: pipeline.secrets,
    round: 1,
    ...defined({ workingDirectory: step.workingDirectory, timeoutMinutes: step.timeoutMinutes, approval }),
  };
  let reruns = 0;
  for (;;) {
    try {
      // Scheduling the step again asks the worker's journal how far it got, even after a heartbeat timeout.
      const about = {
        what: `step "${step.name}"`,
        step: record,
        mayHaveBegun: request.round > 1 || step.retry !== undefined,
        isLast: child.isEnding,
      };
      return await runOnHost(child, about, (queueWaitMs) => stepActivity(child, step, queueWaitMs)(request));
    } catch (error) {
      if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
      const { cause } = error;
      if (!(cause instanceof ApplicationFailure) || child.isEnding) throw error;
      if (cause.type === STEP_NOT_RUN) continue;
      if (cause.type !== STEP_IN_DOUBT) throw error;
      if (step.idempotent && reruns < MAX_RERUNS) {
        reruns += 1;
        request.round += 1;
        continue;
      }
      const decision = await withInputRequired([child.record, record], () =>
        askAboutUnknownOutcome(placeOf(child, step), cause.message, failureDetails(cause)),
      );
      if (decision === 'give_up') throw error;
      if (decision === 'run_again') request.round += 1;
      else request.isTakenAsDone = true;
    }
  }
}

function placeOf({ record }: StepOwner, step: Step): string {
  return `${record.name} / ${step.name}`;
}

function stepActivity(child: StepOwner, step: Step, queueWaitMs: number) {
  const { attempts = 1, backoffSeconds = 5 } = step.retry ?? {};
  const { runPipelineStep } = proxyActivities<typeof activities>({
    taskQueue: stepTaskQueue(workflowInfo().taskQueue, child.host),
    scheduleToStartTimeout: queueWaitMs,
    startToCloseTimeout: minutes((step.timeoutMinutes ?? child.pipeline.timeoutMinutes) + BACKSTOP_MINUTES),
    heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: {
      maximumAttempts: attempts,
      // Temporal has no interval of 0.
      initialInterval: Math.max(1, Math.ceil(backoffSeconds * 1000)),
      backoffCoefficient: 2,
      maximumInterval: '1h',
    },
    summary: placeOf(child, step),
  });
  return runPipelineStep;
}

function minutes(count: number): number {
  return Math.ceil(count * 60_000);
}

export function rootFailure(error: ActivityFailure | ApplicationFailure): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  if (error.cause instanceof ApplicationFailure) return error.cause;
  return ApplicationFailure.nonRetryable(error.cause?.message ?? error.message, 'StepFailed');
}

export function failureDetails(failure: ApplicationFailure): StepFailureDetails | undefined {
  return (failure.details?.[0] ?? undefined) as StepFailureDetails | undefined;
}

/** How long to wait for the host with an earlier operation's workspace, in milliseconds. */
const TAKE_OVER_WAIT_MS = 60_000;

export interface EarlierWorkspace {
  workflowId: string;
  host: string;
}

/** Opens a workspace on any host. @param earlier the workspace to take over, on its own host */
export function openWorkspace(
  name: string,
  workspace: OpenWorkspace,
  earlier: EarlierWorkspace | undefined,
): Promise<OpenedWorkspace> {
  const { openPipelineWorkspace } = proxyActivities<typeof activities>({
    startToCloseTimeout: '1h',
    retry: { maximumAttempts: 5 },
    ...(earlier === undefined
      ? { taskQueue: placementTaskQueue(workflowInfo().taskQueue) }
      : {
          taskQueue: hostTaskQueue(workflowInfo().taskQueue, earlier.host),
          scheduleToStartTimeout: TAKE_OVER_WAIT_MS,
        }),
    summary: `${name}: workspace`,
  });
  return openPipelineWorkspace({
    ...workspace,
    ...(earlier === undefined ? {} : { takeOverFrom: earlier.workflowId }),
  });
}

/** @throws ActivityFailure with {@link UnsavedDetails} in its cause if some artifacts can't be saved */
export function saveArtifacts(child: StepOwner, hasFailed: boolean): Promise<ArtifactReference[]> {
  const about = { what: 'saving the artifacts', mayHaveBegun: false, isLast: child.isEnding || hasFailed };
  return runOnHost(child, about, (queueWaitMs) => {
    const { savePipelineArtifacts } = proxyActivities<typeof activities>({
      taskQueue: hostTaskQueue(workflowInfo().taskQueue, child.host),
      scheduleToStartTimeout: queueWaitMs,
      startToCloseTimeout: '1h',
      // If the host is lost, this also ends the wait after a cancel.
      heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
      // A cancel waits until copying has stopped.
      cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
      retry: { maximumAttempts: 5 },
      summary: `${child.record.name}: artifacts`,
    });
    const { id, job, pipeline } = child;
    return savePipelineArtifacts({ child: id, patterns: job.artifacts, secrets: pipeline.secrets });
  });
}

/** Artifacts that a failed activity saved nevertheless; undefined for another failure. */
export function unsavedDetails(error: unknown): UnsavedDetails | undefined {
  if (!(error instanceof ActivityFailure) || !(error.cause instanceof ApplicationFailure)) return undefined;
  const details = error.cause.details?.[0] as Partial<UnsavedDetails> | null | undefined;
  return details?.saved && details.unsaved ? (details as UnsavedDetails) : undefined;
}
