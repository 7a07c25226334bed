/**
 * Running one step: an activity on the task queue of the host that has the job's workspace. A step whose end nobody
 * knows runs again only if its author or a person says so.
 */
import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  isCancellation,
  proxyActivities,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type * as activities from '../../activities/pipeline.js';
import type { ChildRecord, StepRecord } from '../../operations/record.js';
import type { Job, Pipeline, Step } from '../../pipelines/pipeline.js';
import {
  hostTaskQueue,
  STEP_IN_DOUBT,
  STEP_NOT_RUN,
  stepTaskQueue,
  type ArtifactReference,
  type ChildId,
  type OpenWorkspace,
  type RunStep,
  type StepDone,
  type StepTrouble,
} from '../../pipelines/run.js';
import { askAboutDoubt, askAboutHost } from './questions.js';

/** Longer than a worker needs to see that it has lost Temporal, and to end its steps. */
const HEARTBEAT_TIMEOUT_MS = 120_000;
/** How long a step waits for a free worker before it is seen whether its host is still there: at first, and after that. */
const QUEUE_WAIT_MS = { first: 600_000, then: 3_600_000 };
/** The same for what is done after a cancel: nobody is asked any more. */
export const ENDING_WAIT_MS = 120_000;
/** How long a host gets to show that it is there. */
const HOST_WAIT_MS = 60_000;
/** How often an idempotent step runs again by itself after its worker died. */
const MAX_RERUNS = 5;
/** How much longer Temporal waits for a step than the worker, which ends it, in minutes. */
const BACKSTOP_MINUTES = 10;

/** What a step belongs to. */
export interface StepOwner {
  readonly pipeline: Pipeline;
  readonly job: Job;
  readonly id: ChildId;
  readonly record: ChildRecord;
  /** Has the workspace. */
  readonly host: string;
  /** Only the steps that run in any case are left, and nobody is asked any more. */
  readonly isEnding: boolean;
  /** What its workspace is opened with. */
  workspace(artifacts: ArtifactReference[]): OpenWorkspace;
}

/** The job's host is given up: its steps run again, in a new workspace. */
export class StartJobAgain extends Error {
  override name = 'StartJobAgain';
}

/**
 * @param number of the step in its job, from 1
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
  const where = `${child.record.name} / ${step.name}`;
  const request: RunStep = {
    child: id,
    step: number,
    name: step.name,
    run: step.run!,
    env: { ...pipeline.env, ...job.env, ...step.env },
    secrets: pipeline.secrets,
    round: 1,
    ...(step.workingDirectory === undefined ? {} : { workingDirectory: step.workingDirectory }),
    ...(step.timeoutMinutes === undefined ? {} : { timeoutMinutes: step.timeoutMinutes }),
    ...(approval === undefined ? {} : { approval }),
  };
  let queueWaitMs: number = child.isEnding ? ENDING_WAIT_MS : QUEUE_WAIT_MS.first;
  let reruns = 0;
  for (;;) {
    try {
      return await schedule(child, step, where, request, queueWaitMs);
    } catch (error) {
      if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
      const { cause } = error;
      if (cause instanceof TimeoutFailure) {
        // The worker's journal knows how far a step got that stopped heartbeating: it is asked by running it again.
        if (cause.timeoutType === 'HEARTBEAT') continue;
        if (cause.timeoutType !== 'SCHEDULE_TO_START' || child.isEnding) throw error;
        if (!(await isHostThere(child))) await decideAboutHost(child, record, error);
        queueWaitMs = QUEUE_WAIT_MS.then;
        continue;
      }
      if (!(cause instanceof ApplicationFailure) || child.isEnding) throw error;
      if (cause.type === STEP_NOT_RUN) continue;
      if (cause.type !== STEP_IN_DOUBT) throw error;
      if (step.idempotent && reruns < MAX_RERUNS) {
        reruns += 1;
        request.round += 1;
        continue;
      }
      const decision = await asking(child, record, () =>
        askAboutDoubt(where, cause.message, troubleOf(cause)),
      );
      if (decision === 'give_up') throw error;
      if (decision === 'run_again') request.round += 1;
      else request.isTakenAsDone = true;
    }
  }
}

function schedule(
  child: StepOwner,
  step: Step,
  where: string,
  request: RunStep,
  queueWaitMs: number,
): Promise<StepDone> {
  const { attempts = 1, backoffSeconds = 5 } = step.retry ?? {};
  const { runPipelineStep } = proxyActivities<typeof activities>({
    taskQueue: stepTaskQueue(workflowInfo().taskQueue, child.host),
    scheduleToStartTimeout: queueWaitMs,
    startToCloseTimeout: minutes((step.timeoutMinutes ?? child.pipeline.timeoutMinutes) + BACKSTOP_MINUTES),
    heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: {
      maximumAttempts: attempts,
      initialInterval: backoffSeconds * 1000,
      backoffCoefficient: 2,
      maximumInterval: '1h',
    },
    summary: where,
  });
  return runPipelineStep(request);
}

/** Opening the workspace once more changes nothing, and needs the host's worker. */
async function isHostThere(child: StepOwner): Promise<boolean> {
  const { openPipelineWorkspace } = proxyActivities<typeof activities>({
    taskQueue: hostTaskQueue(workflowInfo().taskQueue, child.host),
    scheduleToStartTimeout: HOST_WAIT_MS,
    startToCloseTimeout: HOST_WAIT_MS,
    retry: { maximumAttempts: 1 },
    summary: `${child.record.name}: is its host there?`,
  });
  try {
    await openPipelineWorkspace(child.workspace([]));
    return true;
  } catch (error) {
    if (isCancellation(error)) throw error;
    return false;
  }
}

async function decideAboutHost(child: StepOwner, record: StepRecord, error: ActivityFailure): Promise<void> {
  const decision = await asking(child, record, () => askAboutHost(child.record.name, child.host));
  if (decision === 'start_job_again') throw new StartJobAgain();
  if (decision === 'give_up') throw error;
}

async function asking<T>(child: StepOwner, record: StepRecord, ask: () => Promise<T>): Promise<T> {
  child.record.status = record.status = 'input_required';
  const answer = await ask();
  child.record.status = record.status = 'working';
  return answer;
}

function minutes(count: number): number {
  return Math.ceil(count * 60_000);
}

/** The failure behind an activity's. */
export function rootOf(error: ActivityFailure | ApplicationFailure): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  if (error.cause instanceof ApplicationFailure) return error.cause;
  return ApplicationFailure.nonRetryable(error.cause?.message ?? error.message, 'StepFailed');
}

/** What is known of a step that failed. */
export function troubleOf(failure: ApplicationFailure): StepTrouble | undefined {
  return (failure.details?.[0] ?? undefined) as StepTrouble | undefined;
}
