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
  workflowInfo,
} from '@temporalio/workflow';
import type * as activities from '../../activities/pipeline/index.js';
import type { StepRecord } from '../../operations/record.js';
import type { Job, Pipeline, Step } from '../../pipelines/pipeline.js';
import {
  STEP_IN_DOUBT,
  STEP_NOT_RUN,
  stepTaskQueue,
  type ChildId,
  type RunStep,
  type StepDone,
  type StepTrouble,
} from '../../pipelines/run.js';
import { onHost, type HostUser } from './hosts.js';
import { askAboutDoubt, asking } from './questions.js';

/** Longer than a worker needs to see that it has lost Temporal, and to end its steps. */
const HEARTBEAT_TIMEOUT_MS = 120_000;
/** How often an idempotent step runs again by itself after its worker died. */
const MAX_RERUNS = 5;
/** How much longer Temporal waits for a step than the worker, which ends it, in minutes. */
const BACKSTOP_MINUTES = 10;

/** What a step belongs to. */
export interface StepOwner extends HostUser {
  /** Only the steps that run in any case are left, and nobody is asked any more. */
  readonly isEnding: boolean;
  readonly pipeline: Pipeline;
  readonly job: Job;
  readonly id: ChildId;
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
  let reruns = 0;
  for (;;) {
    try {
      // After a heartbeat time-out too: the worker's journal knows how far the step got, and is asked by running it again.
      const about = {
        what: `step "${step.name}"`,
        step: record,
        mayHaveBegun: request.round > 1 || step.retry !== undefined,
        isLast: child.isEnding,
      };
      return await onHost(child, about, (queueWaitMs) => schedule(child, step, where, request, queueWaitMs));
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
      const decision = await asking([child.record, record], () =>
        askAboutDoubt(where, cause.message, failureDetails(cause)),
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
export function failureDetails(failure: ApplicationFailure): StepTrouble | undefined {
  return (failure.details?.[0] ?? undefined) as StepTrouble | undefined;
}
